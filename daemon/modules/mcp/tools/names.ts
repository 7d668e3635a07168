import { TOOL_PREFIX } from '../face.ts';
import type { ToolFilter } from '../servers/config.ts';

/** The name of a server as it stands in the names of its tools (spec, MCP tools in agents). */
export function slugOf(serverName: string): string {
  return serverName.replaceAll(/[^A-Za-z0-9_]/g, '_');
}

/** The name under which agents call a tool. */
export function federatedName(slug: string, tool: string): string {
  return `${TOOL_PREFIX}${slug}__${tool}`;
}

/** What is said of a tool to those who see the tools of all servers. */
export function federatedDescription(serverName: string, description: string): string {
  return `[MCP:${serverName}] ${description}`.trimEnd();
}

/** Whether a filter lets a tool through. */
export function passes(filter: ToolFilter | undefined, tool: string): boolean {
  if (!filter) return true;
  return filter.tools.includes(tool) === (filter.type === 'include');
}
