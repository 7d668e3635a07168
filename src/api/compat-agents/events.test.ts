import { describe, expect, test } from 'bun:test';
import { FormatRegistry } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { AgentSession, AgentSessionEvent, AgentSessionItem } from 'openai/resources/beta/agents/agents';
import type { Turn } from 'openai/resources/beta/agents/sessions/turns/turns';
import { camelCased } from './camel-case.ts';
import { SessionEvent } from './events.ts';

FormatRegistry.Set('byte', () => true);

const usage = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 3,
};

const session: AgentSession = {
  id: 'ses_1',
  object: 'agent.session',
  agent: {
    id: 'agt_1',
    name: null,
    model: 'm',
    instructions: null,
    multi_agent: { enabled: false, max_concurrent_subagents: null },
    reasoning: { effort: null, summary: null },
    service_tier: 'auto',
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tools: [{ type: 'programmatic_tool_calling', enabled: true }],
  },
  created_at: 1,
  last_active_at: 1,
  environment: { type: 'none' },
  error: null,
  metadata: {},
  required_actions: [
    { type: 'function_call', turn_id: 't', call_id: 'c', name: 'f', arguments: { city: 'Bonn' } },
    {
      type: 'mcp_approval_request',
      turn_id: 't',
      request_id: 'r',
      request: { type: 'mcp_tool_call', server_label: 's', name: null, message: 'May I?', arguments: {} },
    },
  ],
  status: 'requires_action',
  usage,
  vault_ids: [],
  spend_control: { consumed: null, limit: 5 },
};

const turn: Turn = {
  id: 'turn_1',
  object: 'agent.session.turn',
  session_id: 'ses_1',
  agent_id: 'agt_1',
  subagent_id: null,
  status: 'completed',
  created_at: 1,
  started_at: 1,
  completed_at: 2,
  error: null,
  usage,
};

const call = { id: 'i', turn_id: 't', status: 'completed' } as const;

const ITEMS: readonly AgentSessionItem[] = [
  {
    ...call,
    type: 'message',
    role: 'assistant',
    phase: 'final_answer',
    content: [{ type: 'output_text', text: 'hi' }],
  },
  { ...call, type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
  { ...call, type: 'function_call', call_id: 'c', name: 'f', arguments: {} },
  { ...call, type: 'function_call_output', call_id: 'c', error: null, output: 'done' },
  { ...call, type: 'mcp_call', server_label: 's', name: 'n', arguments: {}, output: null, error: null },
  { ...call, type: 'web_search_call', action: { type: 'search', query: 'q', queries: null } },
  { ...call, type: 'command_execution', command: 'ls', cwd: null, duration_ms: 3, exit_code: 0, output: '' },
  { ...call, type: 'wait_for_subagents_call', sender_agent_id: 'a', recipient_agent_ids: ['b'] },
];

const at = { event_id: 'evt_1', session_id: 'ses_1', turn_id: 'turn_1' } as const;
const text = { ...at, item_id: 'i', output_index: 0, content_index: 0 } as const;

/** Events that the stock client's own types accept. */
const EVENTS: readonly AgentSessionEvent[] = [
  {
    type: 'error',
    event_id: 'e',
    session_id: 's',
    error: { type: 't', code: null, message: 'm', param: null },
  },
  { type: 'agent.session.created', event_id: 'e', session },
  { type: 'agent.session.requires_action', event_id: 'e', session, obfuscation: 'xx' },
  {
    ...at,
    type: 'agent.session.environment.ready',
    environment: { id: 'sbx_1', type: 'x', status: 'ready', error: null },
  },
  { ...at, type: 'agent.session.environment.reset', environment_id: 'sbx_1', reset_count: 1 },
  { ...at, type: 'agent.session.turn.created', turn },
  { ...at, type: 'agent.session.turn.completed', turn, usage },
  ...ITEMS.map(
    (item) => ({ ...at, type: 'agent.session.turn.item.added', item, output_index: null }) as const,
  ),
  { ...text, type: 'agent.session.turn.content_part.added', part: { type: 'output_text', text: '' } },
  { ...text, type: 'agent.session.turn.output_text.delta', delta: 'h' },
  { ...text, type: 'agent.session.turn.output_text.done', text: 'hi' },
  {
    ...at,
    item_id: 'i',
    output_index: 0,
    summary_index: 0,
    type: 'agent.session.turn.reasoning_summary_text.delta',
    delta: 'h',
  },
  { ...at, item_id: 'i', output_index: 0, type: 'agent.output.command_execution_output.delta', delta: 'x' },
];

describe('the events of a session', () => {
  test.each(EVENTS.map((event, i) => [event.type, i] as const))(
    'take %s as the stock client knows it',
    (_, i) => {
      expect([...Value.Errors(SessionEvent, EVENTS[i])].map(({ path, message }) => [path, message])).toEqual(
        [],
      );
    },
  );

  test.each([
    ['an unknown type', { ...at, type: 'agent.session.exploded' }],
    ['an event without its id', { type: 'agent.session.idle', session }],
    ['a delta without its text', { ...text, type: 'agent.session.turn.output_text.delta' }],
  ])('refuse %s', (_, event) => {
    expect(Value.Check(SessionEvent, event)).toBe(false);
  });

  test('have the same shape in camelCase over RPC', () => {
    const { event_id, session_id, turn_id } = at;
    const event = {
      type: 'agent.session.environment.reset',
      eventId: event_id,
      sessionId: session_id,
      turnId: turn_id,
    };
    expect(Value.Check(camelCased(SessionEvent), { ...event, environmentId: 'sbx_1', resetCount: 1 })).toBe(
      true,
    );
    expect(Value.Check(camelCased(SessionEvent), { ...event, environment_id: 'sbx_1' })).toBe(false);
  });
});
