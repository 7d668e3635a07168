import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { AgentClient } from './support/agent-client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { startEchoingServer } from './support/mcp-echoing.ts';
import { NO_SANDBOXES } from './support/tenants/two-tenants.ts';

setDefaultTimeout(60_000);

const TOKEN = 'a token that nobody else may see';

let server: ReturnType<typeof startEchoingServer>;
let daemon: TestDaemon;
let api: AgentClient;

beforeAll(async () => {
  server = startEchoingServer();
  const env = { ...NO_SANDBOXES, SVC_OUTBOUND_ALLOW: `127.0.0.1:${server.port}` };
  daemon = await startDaemon({ env });
  api = new AgentClient(() => daemon.url, daemon.apiKey);
});

afterAll(async () => {
  await daemon?.stop();
  await server?.stop();
});

test.each(['result', 'failure', 'status'] as const)(
  'a server that tells the credentials which it was sent, as a %s, tells them nobody',
  async (how) => {
    const { status, body } = await api.ask<{ server: { id: string } }>('POST', '/v1/mcp/servers', {
      name: how,
      transportType: 'MCP_TRANSPORT_TYPE_STREAMABLE_HTTP',
      url: `http://127.0.0.1:${server.port}/${how}`,
      authType: 'MCP_AUTH_TYPE_BEARER',
      authConfig: { token: TOKEN },
    });
    expect(status).toBe(200);
    const call = await api.ask('POST', '/v1/mcp/tools/call', {
      toolName: `mcp__${how}__tell`,
      arguments: {},
    });
    const shown = [body, call.body, (await api.ask('GET', '/v1/mcp/tools')).body].map((one) =>
      JSON.stringify(one),
    );
    expect(shown[1]).toContain('[redacted]');
    for (const text of [...shown, daemon.log()]) expect(text).not.toContain(TOKEN);
  },
);
