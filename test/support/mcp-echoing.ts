/** A tool server that says what it was sent, at /result, /failure and /status: in the answer of its tool, its error, or its body. */
export function startEchoingServer(): { readonly port: number; stop(): Promise<void> } {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method !== 'POST') return new Response(null, { status: 405 });
      const { id, method } = (await request.json()) as { id?: number; method: string };
      const sent = `You sent ${request.headers.get('authorization')}.`;
      const says = (what: object) => Response.json({ jsonrpc: '2.0', id, ...what });
      if (method === 'server/discover') return says({ error: { code: -32601, message: 'no' } });
      if (method === 'initialize') return says({ result: GREETING });
      if (id === undefined) return new Response(null, { status: 202 });
      if (method === 'tools/list')
        return says({
          result: { tools: [{ name: 'tell', description: sent, inputSchema: { type: 'object' } }] },
        });
      const how = new URL(request.url).pathname;
      if (how === '/status') return new Response(sent, { status: 502 });
      if (how === '/failure') return says({ error: { code: -32000, message: sent } });
      return says({ result: { content: [{ type: 'text', text: sent }] } });
    },
  });
  return { port: server.port ?? 0, stop: () => server.stop(true) };
}

const GREETING = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'echoing', version: '1' },
};
