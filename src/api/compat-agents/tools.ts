import { nullable, oneOf, open, stringMap, struct, t } from '../schema.ts';

const strings = t.Array(t.String());

/** How an MCP server is reached: over HTTP, or as a program in the environment. */
export const McpTransport = t.Union(
  [
    open(
      'McpTransportHttp',
      { type: t.Literal('http'), server_url: t.String() },
      { authorization: nullable(t.String()), headers: nullable(stringMap()) },
    ),
    open(
      'McpTransportStdio',
      { type: t.Literal('stdio'), command: t.String(), cwd: t.String() },
      { args: nullable(strings), env: nullable(stringMap()), env_vars: nullable(strings) },
    ),
  ],
  { $id: 'McpTransport' },
);

const WebSearchLocation = open(
  'WebSearchLocation',
  {},
  {
    city: nullable(t.String()),
    country: nullable(t.String()),
    region: nullable(t.String()),
    timezone: nullable(t.String()),
  },
);

/** A tool that an agent has. Which fields it has follows from its type. */
export const CompatAgentTool = open(
  'AgentTool',
  {
    type: oneOf(
      'function',
      'mcp',
      'web_search',
      'computer_use',
      'programmatic_tool_calling',
      'tool_search',
      'automations',
    ),
  },
  {
    name: t.String({ description: 'Of a function.' }),
    description: t.String(),
    parameters: struct(),
    async: t.Boolean(),
    defer_loading: t.Boolean(),
    server_label: t.String({ description: 'Of an MCP server.' }),
    transport: McpTransport,
    allowed_tools: nullable(strings),
    connection_origin: nullable(oneOf('service', 'environment')),
    credential_id: nullable(t.String()),
    request_metadata: nullable(struct()),
    required: t.Boolean(),
    allowed_domains: nullable(strings),
    context_size: nullable(oneOf('low', 'medium', 'high')),
    location: nullable(WebSearchLocation),
    mode: nullable(oneOf('disabled', 'cached', 'live')),
    include_screenshots: t.Boolean(),
    enabled: t.Boolean(),
  },
);

/** How many agents an agent may start. */
export const MultiAgent = open(
  'MultiAgentConfig',
  { enabled: t.Boolean() },
  { max_concurrent_subagents: nullable(t.Integer({ minimum: 0 })) },
);

/** How hard the model thinks, and what it shows of that. */
export const AgentReasoning = open(
  'AgentReasoning',
  {},
  {
    effort: nullable(oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
    summary: nullable(oneOf('concise', 'detailed', 'auto')),
  },
);

const TextFormat = open('TextFormat', { type: oneOf('text', 'json_schema') }, { schema: struct() });

/** The form of what the agent says. */
export const AgentText = open(
  'AgentText',
  {},
  { format: nullable(TextFormat), verbosity: nullable(oneOf('low', 'medium', 'high')) },
);

/** Settings that agents have, and that a session may change for itself. */
export const agentSettings = {
  compaction: nullable(open('AgentCompaction', {}, { async: nullable(t.Boolean()) })),
  experimental: open('AgentExperiments', {}, { time_awareness: t.Boolean() }),
  instructions: nullable(t.String()),
  multi_agent: nullable(MultiAgent),
  reasoning: nullable(AgentReasoning),
  service_tier: nullable(oneOf('auto', 'default', 'flex', 'priority', 'fast', 'ultrafast')),
  text: nullable(AgentText),
  tools: nullable(t.Array(CompatAgentTool)),
};
