import { nullable, object, oneOf, open, stringMap, t } from '../schema.ts';
import { Environment } from './environment.ts';
import { BrowserAuthentication, InputContent } from './items.ts';
import { AgentReasoning, AgentText, agentSettings, CompatAgentTool, MultiAgent } from './tools.ts';
import { TokenUsage } from './turns.ts';

/** A message of a user to an agent. */
export const InputMessage = open(
  'AgentSessionInputMessage',
  { role: t.Literal('user'), content: t.Array(InputContent) },
  { type: t.Literal('message') },
);

/** Something that a session waits for. Which fields it has follows from its type. */
const RequiredAction = open(
  'RequiredAction',
  {
    type: oneOf(
      'mcp_approval_request',
      'computer_use_approval_request',
      'function_call',
      'environment_connection',
    ),
  },
  {
    turn_id: t.String(),
    request_id: t.String(),
    request: t.Union([
      open('McpToolCallRequest', {
        type: t.Literal('mcp_tool_call'),
        server_label: t.String(),
        name: nullable(t.String()),
        message: t.String(),
        arguments: t.Unknown(),
      }),
      BrowserAuthentication,
      open('BrowserOriginAccess', {
        type: t.Literal('browser_origin_access'),
        origin: t.String(),
        reason: nullable(t.String()),
      }),
    ]),
    call_id: t.String(),
    name: t.String(),
    arguments: t.Unknown(),
    environment_id: t.String(),
  },
);

/** The agent of a session, as it was when the session began or was changed. */
const SessionAgent = open(
  'SessionAgent',
  {
    id: t.String(),
    name: nullable(t.String()),
    model: t.String(),
    instructions: nullable(t.String()),
    multi_agent: MultiAgent,
    reasoning: AgentReasoning,
    service_tier: t.String(),
    text: AgentText,
    tools: t.Array(CompatAgentTool),
  },
  { compaction: agentSettings.compaction, experimental: agentSettings.experimental },
);

/** Who looks at risky calls: nobody, or a reviewing model. */
export const Review = oneOf('none', 'auto_review');

/** A session: an agent, where it works, and what it has been asked. */
export const CompatSession = open(
  'AgentSession',
  {
    id: t.String(),
    object: t.Literal('agent.session'),
    agent: SessionAgent,
    created_at: t.Integer({ description: 'Unix time in seconds.' }),
    last_active_at: t.Integer(),
    environment: Environment,
    error: nullable(t.String()),
    metadata: stringMap(),
    required_actions: t.Array(RequiredAction),
    status: oneOf('idle', 'in_progress', 'requires_action', 'failed'),
    usage: nullable(TokenUsage),
    vault_ids: t.Array(t.String()),
  },
  {
    prompt_cache_options: nullable(open('SessionPromptCache', { ttl: oneOf('30m', '12h') })),
    review: Review,
    spend_control: object('SpendControl', { consumed: nullable(t.Number()), limit: t.Number() }),
  },
);
