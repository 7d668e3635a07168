import type { App } from '../../../app.ts';
import type { Route } from '../../../http/route.ts';
import type { InboundTool } from '../../mcp/index.ts';
import type { WorkSandboxes } from '../../sandbox/index.ts';
import { artifactRoutes, artifactTools, capped, createArtifacts } from './artifacts/index.ts';
import { SessionSandboxes, sandboxTools } from './sandbox/index.ts';
import type { Tool, ToolContext, ToolSource } from './tool.ts';
import { inboundWebTools } from './web/inbound.ts';
import { webTools } from './web/index.ts';

export { capped } from './artifacts/index.ts';

/** What the tools stand on. */
export interface ToolsNeeds {
  readonly sandboxes: WorkSandboxes;
  /** Whether a tenant has a session. */
  readonly hasSession: (tenant: string, sessionId: string) => boolean;
}

/** The tools of sandboxes, the web and artifacts. */
export interface ToolsRoom {
  readonly sources: readonly ToolSource[];
  readonly routes: readonly Route[];
  /** Those that clients of /mcp may call too. */
  readonly inbound: readonly InboundTool[];
  /** A result as a model is given it; of one that is too long the whole becomes an artifact of the session. */
  cap(context: Pick<ToolContext, 'caller' | 'sessionId' | 'callId'>, output: string): string;
  /** Ends the sandbox of a session of an ephemeral agent, which would else sleep and be deleted after a month. */
  readonly endSession: SessionSandboxes['endSession'];
}

/** Makes the tools of sandboxes, the web and artifacts. */
export function createToolsRoom(app: App, { sandboxes, hasSession }: ToolsNeeds): ToolsRoom {
  const places = new SessionSandboxes(sandboxes);
  const parts = { clock: app.clock, own: sandboxes, places };
  const artifacts = createArtifacts(app);
  const web = webTools(app);
  const tools = [...sandboxTools(parts), ...web, ...artifactTools(artifacts, parts)];
  return {
    sources: [sourceOf(tools)],
    inbound: inboundWebTools(web),
    routes: artifactRoutes(artifacts, hasSession),
    cap: ({ caller: { tenant }, sessionId, callId }, output) =>
      capped(output, (whole) => artifacts.keepResult({ tenant, sessionId, callId }, whole)),
    endSession: (tenant, agent, sessionId) => places.endSession(tenant, agent, sessionId),
  };
}

/** Tools that every agent has which lists them. */
function sourceOf(tools: readonly Tool[]): ToolSource {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return { find: (_, name) => byName.get(name) };
}
