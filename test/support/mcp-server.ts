import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { type ChildServer, startChild } from './child-server.ts';

/** Who is let in; anybody when nothing is said. */
export interface McpServerOptions {
  readonly port?: number;
  /** Headers that a request must have. */
  readonly requires?: Readonly<Record<string, string>>;
  /** Parameters that its address must have. */
  readonly query?: Readonly<Record<string, string>>;
  /** Access tokens must be of this issuer. */
  readonly issuer?: string;
  /** Old clients are turned away. */
  readonly modernOnly?: true;
  /** Where a request is sent instead of being answered. */
  readonly redirect?: string;
}

/** A request that has come. */
export interface McpRequestSeen {
  readonly rpc: string;
  readonly version: string | null;
  readonly accepted: boolean;
}

/** Starts a tool server in a process of its own, made with the official library. It is at /mcp. */
export function startMcpServer(options: McpServerOptions = {}): Promise<ChildServer<McpRequestSeen>> {
  return startChild(import.meta.path, [JSON.stringify(options)]);
}

const object = (properties: Record<string, { type: string }> = {}) => ({
  type: 'object' as const,
  properties,
});
const TOOLS = [
  { name: 'echo', description: 'Says it again.', inputSchema: object({ text: { type: 'string' } }) },
  { name: 'blocks', description: 'Answers every kind of block.', inputSchema: object() },
  { name: 'fails', description: 'Fails.', inputSchema: object() },
  { name: 'slow', inputSchema: object({ ms: { type: 'integer' } }) },
  { name: 'steps', inputSchema: object({ count: { type: 'integer' }, ms: { type: 'integer' } }) },
  { name: 'large', inputSchema: object({ mb: { type: 'integer' } }) },
  { name: 'structured', inputSchema: object() },
];

function blocks() {
  return [
    { type: 'text' as const, text: 'one' },
    { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' },
    { type: 'resource' as const, resource: { uri: 'file:///a.txt', text: 'x' } },
    { type: 'resource_link' as const, uri: 'file:///b.txt', name: 'b' },
  ];
}

function makeServer(): Server {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({ tools: TOOLS }));
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const { text = '', ms = 0, mb = 0, count = 0 } = (params.arguments ?? {}) as Record<string, never>;
    switch (params.name) {
      case 'blocks':
        return { content: blocks() };
      case 'fails':
        return { content: [{ type: 'text', text: 'it went wrong' }], isError: true };
      case 'slow':
        await Bun.sleep(ms);
        return { content: [{ type: 'text', text: 'late' }] };
      case 'steps':
        for (let step = 0; step < count; step++) {
          await Bun.sleep(ms);
          const progressToken = params._meta?.progressToken;
          if (progressToken !== undefined)
            await ctx.mcpReq.notify({
              method: 'notifications/progress',
              params: { progressToken, progress: step },
            });
        }
        return { content: [{ type: 'text', text: 'done' }] };
      case 'large':
        return { content: [{ type: 'text', text: 'x'.repeat(mb * 1024 * 1024) }] };
      case 'structured':
        return { content: [], structuredContent: { a: 1 } };
      default:
        return { content: [{ type: 'text', text }] };
    }
  });
  return server;
}

async function isLetIn(request: Request, { requires, query, issuer }: McpServerOptions): Promise<boolean> {
  const url = new URL(request.url);
  if (Object.entries(requires ?? {}).some(([name, value]) => request.headers.get(name) !== value))
    return false;
  if (Object.entries(query ?? {}).some(([name, value]) => url.searchParams.get(name) !== value)) return false;
  if (issuer === undefined) return true;
  const token = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  return jwtVerify(token, keys, { issuer }).then(
    () => true,
    () => false,
  );
}

function serve(options: McpServerOptions): void {
  const handler = createMcpHandler(makeServer, { legacy: options.modernOnly ? 'reject' : 'stateless' });
  const { port } = Bun.serve({
    port: options.port ?? 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const accepted = await isLetIn(request, options);
      const body = (await request
        .clone()
        .json()
        .catch(() => ({}))) as { method?: string };
      const version = request.headers.get('mcp-protocol-version');
      console.log(JSON.stringify({ rpc: body.method ?? request.method, version, accepted }));
      if (options.redirect) return Response.redirect(options.redirect, 307);
      if (!accepted) return new Response('no', { status: 401, headers: { 'www-authenticate': 'Bearer' } });
      return handler.fetch(request);
    },
  });
  console.log(JSON.stringify({ port }));
}

if (import.meta.main) serve(JSON.parse(process.argv[2] ?? '{}') as McpServerOptions);
