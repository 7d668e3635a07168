/** What a server does that nobody should have to do with. */
export type Hostility = 'endless pages' | 'huge tools' | 'garbage' | 'silence' | 'news without end';

/** A tool server that means no good, at /<hostility>. */
export function startHostileServer(): { readonly port: number; stop(): Promise<void> } {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const hostility = decodeURIComponent(new URL(request.url).pathname.slice(1)) as Hostility;
      if (request.method !== 'POST') return new Response(null, { status: 405 });
      const { id, method, params } = (await request.json()) as Message;
      if (hostility === 'silence') await new Promise(() => undefined);
      if (hostility === 'garbage') return new Response('{"jsonrpc":"2.0","id":', { headers: JSON_TYPE });
      if (method === 'server/discover') return fails(id);
      if (method === 'initialize') return answers(id, GREETING);
      if (id === undefined) return new Response(null, { status: 202 });
      if (method === 'tools/list') return answers(id, list(hostility, params?.cursor));
      if (hostility === 'news without end') return events(id, request.signal);
      return answers(id, { content: [{ type: 'text', text: 'ok' }] });
    },
  });
  return { port: server.port ?? 0, stop: () => server.stop(true) };
}

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly cursor?: string };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const GREETING = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'hostile', version: '1' },
};
const tool = (name: string, size = 1) => ({
  name,
  description: 'd'.repeat(size),
  inputSchema: { type: 'object', properties: {} },
});

function list(hostility: Hostility, cursor = '0') {
  if (hostility === 'huge tools')
    return { tools: Array.from({ length: 300 }, (_, i) => tool(`t${i}`, i % 2 === 0 ? 20_000 : 40_000)) };
  if (hostility !== 'endless pages') return { tools: [tool('echo')] };
  const page = Number(cursor);
  const tools = Array.from({ length: 50 }, (_, i) => tool(`t${page}_${i}`));
  return { tools, nextCursor: String(page + 1) };
}

/** Says thousands of times that the tools are others, then answers. */
function events(id: Message['id'], signal: AbortSignal): Response {
  const news = 'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n';
  const body = new ReadableStream<string>({
    async start(controller) {
      for (let i = 0; i < 2_000 && !signal.aborted; i++) controller.enqueue(news);
      const result = { content: [{ type: 'text', text: 'at last' }] };
      controller.enqueue(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

function answers(id: Message['id'], result: object): Response {
  return Response.json({ jsonrpc: '2.0', id, result });
}

function fails(id: Message['id']): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } });
}
