import { type McpServer, mcpServers } from '../../../src/api/mcp/servers.ts';
import { mcpTools } from '../../../src/api/mcp/tools.ts';
import type { Value } from '../../../src/api/schema.ts';
import { AppError, fail } from '../../../src/errors/app-error.ts';
import { rfc3339 } from '../../../src/kit/time.ts';
import { readJson } from '../../http/body.ts';
import type { Site } from '../../http/gate/site.ts';
import { type Call, implement, type Route } from '../../http/route.ts';
import { clientConfig } from './inbound/client-config.ts';
import { RPC } from './inbound/protocol.ts';
import type { InboundServer } from './inbound/server.ts';
import type { Switches } from './inbound/switches.ts';
import { returnedPage } from './oauth/page.ts';
import type { OAuthService } from './oauth/service.ts';
import type { ServerService } from './servers/service.ts';
import { toWire, WIRE_HEALTH } from './servers/wire.ts';
import type { Discovery } from './tools/discovery.ts';
import type { ToolService } from './tools/service.ts';
import { callToWire, toolToWire } from './tools/wire.ts';

/** What the operations are carried out by. */
export interface McpServices {
  readonly servers: ServerService;
  readonly tools: ToolService;
  readonly discovery: Discovery;
  readonly oauth: OAuthService;
  readonly inbound: InboundServer;
  readonly switches: Switches;
  readonly site: Pick<Site, 'baseUrl'>;
}

const CALLBACK = mcpServers.FinishMcpAuthorization.path;

/** The operations on tool servers. */
export function mcpServerRoutes({ servers, oauth, discovery, site }: McpServices): Route[] {
  const shown = (known: Parameters<typeof toWire>[0]): Value<typeof McpServer> => toWire(known);
  return implement(mcpServers, {
    ListMcpServers: ({ caller, query }) => ({
      servers: servers.list(caller.tenant, query.enabledOnly ?? false).map(shown),
    }),
    RegisterMcpServer: async ({ caller, body }) => {
      const { server, tools } = await servers.register(caller, body);
      return { server: shown(server), tools: tools.map((tool) => toolToWire(tool)) };
    },
    GetMcpServer: ({ caller, params }) => ({ server: shown(servers.get(caller.tenant, params.id)) }),
    UpdateMcpServer: async ({ caller, params, body }) => ({
      server: shown(await servers.update(caller, params.id, body)),
    }),
    DeleteMcpServer: ({ caller, params }) => {
      servers.remove(caller, params.id);
      return {};
    },
    GetMcpServerHealth: ({ caller, params }) => {
      const { health, healthCheckedAt, healthError } = servers.get(caller.tenant, params.id).row;
      return {
        status: WIRE_HEALTH[health],
        ...(healthCheckedAt === null ? {} : { lastCheck: rfc3339(healthCheckedAt) }),
        error: healthError ?? '',
      };
    },
    AuthorizeMcpServer: ({ caller, params, request }) => {
      const { row, config } = servers.get(caller.tenant, params.id);
      const redirectUri = `${site.baseUrl(request)}${CALLBACK}`;
      const { authorizationUrl, expiresAt } = oauth.begin(caller, servers.targetOf(row, config), redirectUri);
      return { authorizationUrl, redirectUri, expiresAt: rfc3339(expiresAt) };
    },
    FinishMcpAuthorization: async ({ query }) => {
      const { name, ...server } = await oauth.finish(query, (tenant, id) => {
        const { row, config } = servers.get(tenant, id);
        return servers.targetOf(row, config);
      });
      discovery.soon({ name, ...server });
      return returnedPage(name);
    },
  });
}

/** The operations on tools, and this service as a server itself. */
export function mcpToolRoutes({ tools, inbound, switches, site }: McpServices): Route[] {
  return implement(mcpTools, {
    DiscoverTools: async ({ caller, params }) => ({
      tools: (await tools.discover(caller.tenant, params.serverId)).map((tool) => toolToWire(tool)),
    }),
    ListFederatedTools: ({ caller, query }) => ({
      tools: tools.offered(caller.tenant, query).map((tool) => toolToWire(tool.row, tool)),
    }),
    CallTool: async ({ caller, body, signal }) => {
      const { serverId, toolName = '', arguments: args = {} } = body;
      const result = await tools.callOf(caller.tenant, serverId, toolName, args, signal);
      return { result: callToWire(result, caller.tenant, args) };
    },
    McpEndpoint: async (call) => {
      const { status, body } = await answer(call, inbound);
      return body === undefined ? new Response(null, { status }) : Response.json(body, { status });
    },
    GetMcpClientConfig: ({ query, request }) => clientConfig(query.client ?? 'claude', site.baseUrl(request)),
    ListMcpToolSwitches: ({ caller }) => ({ tools: Object.fromEntries(switches.all(caller.tenant)) }),
    SetMcpToolSwitch: ({ caller, params, body }) => {
      switches.set(caller, params.name, body.enabled);
      return { name: params.name, enabled: body.enabled };
    },
  });
}

async function answer(call: Call, inbound: InboundServer) {
  const { caller, request, signal } = call;
  try {
    const body = await readJson(request, mcpTools.McpEndpoint);
    return await inbound.answer({ caller, body, request, signal });
  } catch (error) {
    if (signal.aborted) throw fail('cancelled');
    if (!(error instanceof AppError) || error.code !== 'malformed_body') throw error;
    const { message } = error;
    return { status: 400, body: { jsonrpc: '2.0', id: null, error: { code: RPC.parseError, message } } };
  }
}
