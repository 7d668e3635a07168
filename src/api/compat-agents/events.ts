import { nullable, oneOf, open, type TProperties, t } from '../schema.ts';
import { EnvironmentState } from './environment.ts';
import { InputContent, OutputText, SessionItem, SummaryText } from './items.ts';
import { CompatSession, InputMessage } from './session.ts';
import { CompatTurn, Subagent, TokenUsage } from './turns.ts';

const common = { event_id: t.String() };
const padding = { obfuscation: t.String({ description: 'Padding that hides the length of deltas.' }) };
const inTurn = { session_id: t.String(), turn_id: nullable(t.String()) };
const ofItem = { ...inTurn, item_id: t.String(), output_index: t.Integer() };
const ofContent = { ...ofItem, content_index: t.Integer() };
const ofSummary = { ...ofItem, summary_index: t.Integer() };

function event<const T extends readonly [string, ...string[]], const P extends TProperties>(
  name: string,
  types: T,
  properties: P,
) {
  return open(name, { type: oneOf(...types), ...common, ...properties }, padding);
}

/** What a session tells about itself while it is watched. Told apart by `type`. */
export const SessionEvent = t.Union(
  [
    event('SessionErrorEvent', ['error'], {
      session_id: t.String(),
      error: open('SessionError', {
        type: t.String(),
        code: nullable(t.String()),
        message: t.String(),
        param: nullable(t.String()),
      }),
    }),
    event(
      'SessionStatusEvent',
      [
        'agent.session.created',
        'agent.session.idle',
        'agent.session.in_progress',
        'agent.session.requires_action',
        'agent.session.failed',
      ],
      { session: CompatSession },
    ),
    event(
      'SessionEnvironmentEvent',
      [
        'agent.session.environment.pending',
        'agent.session.environment.ready',
        'agent.session.environment.connected',
        'agent.session.environment.disconnected',
        'agent.session.environment.suspended',
        'agent.session.environment.expired',
        'agent.session.environment.failed',
      ],
      { ...inTurn, environment: EnvironmentState },
    ),
    event('SessionEnvironmentResetEvent', ['agent.session.environment.reset'], {
      ...inTurn,
      environment_id: t.String(),
      reset_count: t.Integer(),
    }),
    event(
      'SessionSubagentEvent',
      ['agent.session.subagent.created', 'agent.session.subagent.active', 'agent.session.subagent.closed'],
      { subagent: Subagent },
    ),
    event('SessionTurnEvent', ['agent.session.turn.created', 'agent.session.turn.in_progress'], {
      session_id: t.String(),
      turn_id: t.String(),
      turn: CompatTurn,
    }),
    event(
      'SessionTurnEndEvent',
      ['agent.session.turn.completed', 'agent.session.turn.failed', 'agent.session.turn.cancelled'],
      { session_id: t.String(), turn_id: t.String(), turn: CompatTurn, usage: nullable(TokenUsage) },
    ),
    event('SessionItemEvent', ['agent.session.turn.item.added', 'agent.session.turn.item.done'], {
      ...inTurn,
      item: SessionItem,
      output_index: nullable(t.Integer()),
    }),
    event(
      'SessionContentPartEvent',
      ['agent.session.turn.content_part.added', 'agent.session.turn.content_part.done'],
      { ...ofContent, part: OutputText },
    ),
    event('SessionTextDeltaEvent', ['agent.session.turn.output_text.delta'], {
      ...ofContent,
      delta: t.String(),
    }),
    event('SessionTextDoneEvent', ['agent.session.turn.output_text.done'], {
      ...ofContent,
      text: t.String(),
    }),
    event('SessionSummaryPartEvent', ['agent.session.turn.reasoning_summary_part.added'], {
      ...ofSummary,
      part: SummaryText,
    }),
    event('SessionSummaryPartDoneEvent', ['agent.session.turn.reasoning_summary_part.done'], {
      ...ofSummary,
      part: SummaryText,
      status: nullable(oneOf('incomplete')),
    }),
    event('SessionSummaryTextDeltaEvent', ['agent.session.turn.reasoning_summary_text.delta'], {
      ...ofSummary,
      delta: t.String(),
    }),
    event('SessionSummaryTextDoneEvent', ['agent.session.turn.reasoning_summary_text.done'], {
      ...ofSummary,
      text: t.String(),
    }),
    event('CommandOutputDeltaEvent', ['agent.output.command_execution_output.delta'], {
      ...ofItem,
      delta: t.String(),
    }),
  ],
  { $id: 'AgentSessionEvent' },
);

/** Something that is given to a running session: a message, an answer to what it waits for, or a stop. */
export const SessionInput = open(
  'AgentSessionInput',
  {
    type: oneOf(
      'agent.session.input.message',
      'agent.session.input.cancel',
      'agent.session.input.tool_result',
      'agent.session.input.mcp_approval_request_result',
      'agent.session.input.computer_use_approval_request_result',
    ),
  },
  {
    input: t.Array(InputMessage),
    call_id: t.String(),
    turn_id: t.String(),
    success: t.Boolean(),
    error: nullable(t.String()),
    output: nullable(t.Union([t.String(), t.Array(InputContent)])),
    request_id: t.String(),
    response: open(
      'ApprovalRequestResponse',
      { type: oneOf('mcp_tool_call', 'browser_authentication', 'browser_origin_access') },
      {
        decision: oneOf('approve', 'deny', 'cancel'),
        action: oneOf('submit', 'cancel'),
        fields: t.Array(open('BrowserFieldValue', { field_id: t.String(), value: t.String() })),
        selected_option: nullable(t.String()),
      },
    ),
  },
);
