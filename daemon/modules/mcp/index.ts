import type { App, Module } from '../../app.ts';
import { Site } from '../../http/gate/site.ts';
import type { Route } from '../../http/route.ts';
import type { Trust } from '../../outbound/outbound.ts';
import { version } from '../../version.ts';
import type { OwnSandboxes } from '../sandbox/index.ts';
import { Connections } from './connection/connections.ts';
import { credentialsOf } from './connection/credentials.ts';
import type { InboundTool, McpTools } from './face.ts';
import { HealthChecks } from './health/checks.ts';
import { agentTools } from './inbound/agent-tools.ts';
import { offered } from './inbound/define.ts';
import { Operations } from './inbound/operations.ts';
import { otherTools } from './inbound/other-tools.ts';
import { sandboxTools } from './inbound/sandbox-tools.ts';
import { InboundServer } from './inbound/server.ts';
import { SwitchStore } from './inbound/switch-store.ts';
import { Switches } from './inbound/switches.ts';
import { OAuthService } from './oauth/service.ts';
import { OAuthStore } from './oauth/store.ts';
import { mcpServerRoutes, mcpToolRoutes } from './routes.ts';
import { ServerService } from './servers/service.ts';
import { ServerStore } from './servers/store.ts';
import { Discovery } from './tools/discovery.ts';
import { ToolService } from './tools/service.ts';
import { ToolStore } from './tools/store.ts';

export type { FederatedTool, InboundTool, McpOutcome, McpTools } from './face.ts';
export { TOOL_PREFIX } from './face.ts';

/** What the module takes from its surroundings, besides the app. */
export interface McpNeeds {
  /** Makes the sandboxes that programs run in. */
  readonly own: OwnSandboxes;
  /** The tenant of the instance's owner, whose servers may be at addresses that are not public. */
  readonly instanceTenant: string;
  /** The port that is listened on. */
  readonly port: () => number;
  /** The routes of every module: tools at /mcp are made of their operations. Asked for at the first use. */
  readonly routes: () => readonly Route[];
  /** Further tools at /mcp, of modules that come after this one. */
  readonly extraTools?: () => readonly InboundTool[];
}

/** What the rest of the daemon may ask of this module. */
export interface McpFace {
  /** The tools of registered servers. */
  readonly tools: McpTools;
}

/** The Model Context Protocol, both ways: servers of tenants and their tools, and this service as a server at /mcp. */
export function createMcpModule(app: App, needs: McpNeeds): Module & McpFace {
  const store = new ServerStore(app.db);
  const toolStore = new ToolStore(app.db);
  const tokens = new OAuthStore(app.db);
  const trust = (tenant: string): Trust => (tenant === needs.instanceTenant ? 'operator' : 'tenant');
  const oauth = new OAuthService(app, tokens, trust);
  const connections = new Connections({
    ...{ outbound: app.outbound, log: app.log, own: needs.own, trust, version },
    ledger: {
      add: (tenant, key) => store.addSandbox(tenant, key),
      remove: (tenant, key) => store.removeSandbox(tenant, key),
    },
    credentials: (target) => credentialsOf(target, oauth),
    image: () => app.config.get('mcp.image'),
    callTimeoutMs: () => app.config.get('mcp.call_timeout'),
    idleMs: () => app.config.get('mcp.idle'),
    mostPrograms: () => app.config.get('mcp.programs'),
    onNews: (target) => discovery.soon(target),
  });
  const discovery = new Discovery(app, { servers: store, tools: toolStore }, connections);
  const servers = new ServerService(app, { store, tools: toolStore, tokens, discovery, connections });
  const tools = new ToolService(app, {
    servers,
    serverStore: store,
    store: toolStore,
    discovery,
    connections,
  });
  const { inbound, switches } = createInbound(app, needs);
  const health = new HealthChecks(app, store, servers, connections);
  const site = new Site(app.config, needs.port);
  const services = { servers, tools, discovery, oauth, inbound, switches, site };
  return {
    name: 'mcp',
    routes: [...mcpServerRoutes(services), ...mcpToolRoutes(services)],
    tools,
    async start() {
      // What a former process has left talks to nobody any more.
      void clearSandboxes(app, store, needs.own);
      health.start();
    },
    async stop() {
      health.stop();
      await connections.close();
    },
  };
}

function createInbound(app: App, { routes, extraTools }: McpNeeds) {
  const operations = new Operations(routes);
  const own = [...otherTools, ...sandboxTools, ...agentTools].map((tool) => offered(tool, operations));
  const all = () => [...own, ...(extraTools?.() ?? [])];
  const switches = new Switches(app, new SwitchStore(app.db), all);
  const inbound = new InboundServer({
    ...{ version, log: app.log, tools: all },
    isOn: (tenant, tool) => switches.isOn(tenant, tool),
    switches: (tenant) => switches.all(tenant),
  });
  return { inbound, switches };
}

async function clearSandboxes(app: App, store: ServerStore, own: OwnSandboxes): Promise<void> {
  for (const { tenant, key } of store.sandboxes())
    try {
      const id = own.find(tenant, key);
      if (id !== undefined) await own.terminate(tenant, id);
      store.removeSandbox(tenant, key);
    } catch (error) {
      app.log.warn('the sandbox of a tool server could not be ended', { error });
    }
}
