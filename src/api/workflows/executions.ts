import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, int64, model, oneOf, stringMap, t } from '../schema.ts';
import { RpcStatus } from '../status.ts';

/** A message given to a workflow. */
export const ChatMessage = model('ChatMessage', { role: t.String(), content: t.String() });

/** One thing that happened in a run. */
export const ExecuteWorkflowEvent = model('ExecuteWorkflowEvent', {
  type: oneOf(
    'node.started',
    'node.completed',
    'node.error',
    'chunk',
    'done',
    'error',
    'agent.tool_call.start',
    'agent.tool_call.end',
    'agent.turn.start',
    'agent.turn.end',
    'agent.approval.requested',
  ),
  nodeId: t.String(),
  nodeType: t.String(),
  nodeLabel: t.String(),
  error: t.String(),
  durationMs: int64(),
  timestamp: int64(),
  chunkContent: t.String(),
  data: stringMap(),
});

/** A run of a workflow. Times are in Unix milliseconds. */
export const WorkflowExecution = model('WorkflowExecution', {
  id: t.String(),
  workflowId: t.String(),
  tenantId: t.String(),
  correlationId: t.String(),
  triggerType: oneOf('manual', 'webhook', 'schedule', 'replay'),
  status: oneOf('running', 'completed', 'failed'),
  inputMessages: t.Array(ChatMessage),
  outputContent: t.String(),
  requestMetadata: stringMap(),
  resolvedModel: t.String(),
  resolvedProvider: t.String(),
  promptTokens: int32(),
  completionTokens: int32(),
  totalTokens: int32(),
  errorMessage: t.String(),
  startedAt: int64(),
  completedAt: int64(),
  durationMs: int32(),
  eventsJson: t.String({ description: 'The events, as JSON text.' }),
  ledgerJson: t.String({ description: 'The result of each node, as JSON text.' }),
});

/** One message of the stream of a run: what happened, or what ended it. */
export const ExecuteWorkflowMessage = model('StreamResultOfExecuteWorkflowEvent', {
  result: ExecuteWorkflowEvent,
  error: RpcStatus,
});

const here = { spec: 'workflows', tag: 'Workflow runs' } as const;

/** Runs of workflows. */
export const workflowExecutions = {
  ExecuteWorkflow: endpoint({
    ...here,
    id: 'ExecuteWorkflow',
    method: 'POST',
    path: '/v1/workflows/{workflowId}/execute',
    summary: 'Run a workflow and stream what happens',
    params: ids('workflowId'),
    body: model('WorkflowsServiceExecuteWorkflowBody', {
      tenantId: t.String(),
      messages: t.Array(ChatMessage),
      metadata: stringMap(),
    }),
    response: ExecuteWorkflowMessage,
    stream: 'sse',
    access: 'member',
    unbuilt: true,
  }),
  ListWorkflowExecutions: endpoint({
    ...here,
    id: 'ListWorkflowExecutions',
    method: 'GET',
    path: '/v1/workflows/{workflowId}/executions',
    summary: 'List the runs of a workflow, newest first',
    params: ids('workflowId'),
    query: fields({
      tenantId: t.String(),
      pageSize: int32(),
      offset: int32(),
      statusFilter: oneOf('running', 'completed', 'failed'),
    }),
    response: model('ListWorkflowExecutionsResponse', {
      executions: t.Array(WorkflowExecution),
      total: int32(),
    }),
    access: 'viewer',
    unbuilt: true,
  }),
  GetWorkflowExecution: endpoint({
    ...here,
    id: 'GetWorkflowExecution',
    method: 'GET',
    path: '/v1/workflows/executions/{executionId}',
    summary: 'Get a run',
    params: ids('executionId'),
    query: fields({ tenantId: t.String() }),
    response: model('GetWorkflowExecutionResponse', { execution: WorkflowExecution }),
    access: 'viewer',
    unbuilt: true,
  }),
  ReplayWorkflowExecution: endpoint({
    ...here,
    id: 'ReplayWorkflowExecution',
    method: 'POST',
    path: '/v1/workflows/executions/{executionId}/replay',
    summary: 'Run again with the same input and stream what happens',
    params: ids('executionId'),
    body: model('WorkflowsServiceReplayWorkflowExecutionBody', { tenantId: t.String() }),
    response: ExecuteWorkflowMessage,
    stream: 'sse',
    access: 'member',
    unbuilt: true,
  }),
} satisfies Group;
