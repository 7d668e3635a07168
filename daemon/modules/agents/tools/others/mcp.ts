import type { McpTools } from '../../../mcp/index.ts';
import type { ToolSource } from '../tool.ts';

/** The tools of the tenant's servers, by their federated names. What a server says of its own tools is not believed. */
export function mcpTools(mcp: McpTools): ToolSource {
  return {
    find({ tenant }, name) {
      if (!name.startsWith('mcp__')) return undefined;
      const tool = mcp.find(tenant, name);
      if (!tool) return undefined;
      return {
        name,
        description: tool.description,
        parameters: tool.inputSchema,
        run: (args, { signal }) => mcp.call(tenant, name, args, signal),
      };
    },
  };
}
