import type { Caller } from '../../http/route.ts';

/** What comes before the name of a server in the names of its tools. */
export const TOOL_PREFIX = 'mcp__';

/** A tool of a registered server, as agents see it. */
export interface FederatedTool {
  /** `mcp__<server>__<tool>`; characters of the server's name outside [A-Za-z0-9_] are `_` (spec, MCP tools in agents). */
  readonly name: string;
  /** What the server says of it, after `[MCP:<server>]`. */
  readonly description: string;
  /** JSON Schema of its arguments; an object without properties when the server says nothing. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** What came of a call of a tool, as text for a model. */
export interface McpOutcome {
  readonly ok: boolean;
  /** What the tool answered; when it is not `ok`, it begins with `Error from MCP tool:`. */
  readonly output: string;
}

/** The tools of registered servers, for modules that let models call them. */
export interface McpTools {
  /** The tools of the servers that are enabled, the filters applied. From rows: no network, whatever the health. */
  list(tenant: string): readonly FederatedTool[];
  /** The tool that `list` shows under a name, found without reading the others. */
  find(tenant: string, name: string): FederatedTool | undefined;
  /**
   * Calls a tool by its federated name. How the server or the tool fails is an outcome. Errors: not_found naming the tool
   * (missing, of another tenant, of a server that is disabled); cancelled, when the signal fires.
   */
  call(
    tenant: string,
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<McpOutcome>;
}

/** A tool that this service offers to its clients at /mcp. */
export interface InboundTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** The role that it takes; `viewer` for what only reads. */
  readonly access: Caller['role'];
  /** What it does, for clients that ask before they call. */
  readonly effect: 'reads' | 'writes' | 'destroys';
  /**
   * Does it, as the caller. What it answers is shown as text: a string as it is, anything else as JSON. An error is told
   * to the client as the tool's own failure (`isError`), in the words of the error. `request` is the one that came to /mcp.
   */
  run(
    caller: Caller,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    request: Request,
  ): Promise<unknown>;
}
