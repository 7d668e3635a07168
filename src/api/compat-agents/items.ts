import { nullable, oneOf, open, type TProperties, t } from '../schema.ts';

const CallStatus = oneOf('in_progress', 'completed', 'failed', 'incomplete');
const OutputStatus = oneOf('in_progress', 'completed', 'incomplete');

/** A text that the agent says. */
export const OutputText = open('OutputText', { type: t.Literal('output_text'), text: t.String() });

/** A text or an image that the agent is given. */
export const InputContent = open(
  'InputContent',
  { type: oneOf('input_text', 'input_image') },
  { text: t.String(), image_url: t.String() },
);

/** A part of the reasoning, as the model sums it up. */
export const SummaryText = open('SummaryText', { type: t.Literal('summary_text'), text: t.String() });

/** What agents say to each other. */
export const AgentContent = open(
  'AgentContent',
  { type: oneOf('output_text', 'encrypted_content') },
  { text: t.String(), encrypted_content: t.String() },
);

/** A form that a person fills in for the agent. */
export const BrowserAuthentication = open('BrowserAuthentication', {
  type: t.Literal('browser_authentication'),
  credential_origin: nullable(t.String()),
  reason: nullable(t.String()),
  fields: t.Array(
    open('BrowserField', { id: t.String(), label: t.String(), type: t.String(), required: t.Boolean() }),
  ),
  options: t.Array(
    open('BrowserOption', { id: t.String(), label: t.String(), field_ids: t.Array(t.String()) }),
  ),
});

function item<const T extends string, const P extends TProperties>(name: string, type: T, properties: P) {
  return open(name, { id: t.String(), type: t.Literal(type), turn_id: t.String(), ...properties });
}

/** A call from one agent to another: it is made, given input, resumed, interrupted or closed. */
function subagentCall<const T extends string, const P extends TProperties>(
  name: string,
  type: T,
  properties: P,
) {
  return item(name, type, { status: CallStatus, ...properties });
}

const between = { sender_agent_id: t.String(), recipient_agent_id: t.String() };
const content = t.Array(AgentContent);

/** What a session holds, in order: messages, reasoning, calls and their results. Told apart by `type`. */
export const SessionItem = t.Union(
  [
    open('MessageItem', {
      id: nullable(t.String()),
      type: t.Literal('message'),
      turn_id: t.String(),
      role: oneOf('user', 'assistant'),
      phase: nullable(oneOf('commentary', 'final_answer')),
      status: OutputStatus,
      content: t.Array(
        open(
          'MessageContent',
          { type: oneOf('input_text', 'input_image', 'output_text') },
          { text: t.String(), image_url: t.String() },
        ),
      ),
    }),
    item('ReasoningItem', 'reasoning', { status: nullable(OutputStatus), summary: t.Array(SummaryText) }),
    item('FunctionCallItem', 'function_call', {
      call_id: t.String(),
      name: t.String(),
      arguments: t.Unknown(),
      status: CallStatus,
    }),
    item('FunctionCallOutputItem', 'function_call_output', {
      call_id: t.String(),
      error: nullable(t.String()),
      output: nullable(t.Union([t.String(), t.Array(InputContent)])),
      status: CallStatus,
    }),
    item('AgentMessageItem', 'agent_message', { ...between, content }),
    item('McpCallItem', 'mcp_call', {
      server_label: t.String(),
      name: t.String(),
      arguments: t.Unknown(),
      output: t.Unknown(),
      error: t.Unknown(),
      status: CallStatus,
    }),
    item('ComputerUseCallItem', 'computer_use_call', {
      title: nullable(t.String()),
      status: CallStatus,
      output: nullable(
        open('ComputerScreenshot', { type: t.Literal('computer_screenshot'), image_url: t.String() }),
      ),
    }),
    item('ComputerUseApprovalRequestItem', 'computer_use_approval_request', {
      request_id: t.String(),
      request: BrowserAuthentication,
    }),
    item('ComputerUseApprovalResultItem', 'computer_use_approval_request_result', {
      request_id: t.String(),
      response: open(
        'ComputerUseApprovalResponse',
        { type: t.Literal('browser_authentication'), action: oneOf('submit', 'cancel') },
        { selected_option: nullable(t.String()) },
      ),
    }),
    item('WebSearchCallItem', 'web_search_call', {
      status: OutputStatus,
      action: nullable(
        open(
          'WebSearchAction',
          { type: oneOf('search', 'open_page', 'find_in_page', 'other') },
          {
            query: nullable(t.String()),
            queries: nullable(t.Array(t.String())),
            url: nullable(t.String()),
            pattern: nullable(t.String()),
          },
        ),
      ),
    }),
    item('CommandExecutionItem', 'command_execution', {
      command: t.String(),
      cwd: nullable(t.String()),
      duration_ms: nullable(t.Integer()),
      exit_code: nullable(t.Integer()),
      output: nullable(t.String()),
      status: CallStatus,
    }),
    subagentCall('CreateSubagentCallItem', 'create_subagent_call', {
      agent_id: t.String(),
      content,
      model: nullable(t.String()),
      reasoning_effort: nullable(t.String()),
    }),
    subagentCall('SendSubagentInputCallItem', 'send_subagent_input_call', { ...between, content }),
    subagentCall('ResumeSubagentCallItem', 'resume_subagent_call', between),
    subagentCall('WaitForSubagentsCallItem', 'wait_for_subagents_call', {
      sender_agent_id: t.String(),
      recipient_agent_ids: t.Array(t.String()),
    }),
    subagentCall('InterruptSubagentCallItem', 'interrupt_subagent_call', between),
    subagentCall('CloseSubagentCallItem', 'close_subagent_call', between),
  ],
  { $id: 'AgentSessionItem' },
);
