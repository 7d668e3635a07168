import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, model, oneOf, t, timestamp } from '../schema.ts';
import { Workflow } from './graph.ts';

/** What a version changed, by kind. */
export const WorkflowChangeDetail = model('WorkflowChangeDetail', {
  category: oneOf('nodes', 'edges', 'name', 'description', 'status'),
  summary: t.String(),
  items: t.Array(t.String()),
  itemIds: t.Array(t.String()),
});

/** A version of a workflow. */
export const WorkflowVersionEntry = model('WorkflowVersionEntry', {
  version: int32(),
  eventType: oneOf('workflow.created', 'workflow.updated'),
  timestamp: timestamp(),
  changes: t.Array(t.String()),
  details: t.Array(WorkflowChangeDetail),
});

const here = { spec: 'workflows', tag: 'Workflow versions' } as const;

/** The versions of a workflow. */
export const workflowVersions = {
  GetWorkflowVersionHistory: endpoint({
    ...here,
    id: 'GetWorkflowVersionHistory',
    method: 'GET',
    path: '/v1/workflows/{id}/versions',
    summary: 'List the versions of a workflow',
    params: ids('id'),
    query: fields({ tenantId: t.String() }),
    response: model('GetWorkflowVersionHistoryResponse', { versions: t.Array(WorkflowVersionEntry) }),
    access: 'viewer',
    unbuilt: true,
  }),
  GetWorkflowAtVersion: endpoint({
    ...here,
    id: 'GetWorkflowAtVersion',
    method: 'GET',
    path: '/v1/workflows/{id}/versions/{version}',
    summary: 'Get a workflow as it was',
    params: t.Object({ id: t.String({ minLength: 1 }), version: int32() }),
    query: fields({ tenantId: t.String() }),
    response: model('GetWorkflowAtVersionResponse', {
      workflow: Workflow,
      details: t.Array(WorkflowChangeDetail),
      changes: t.Array(t.String()),
    }),
    access: 'viewer',
    unbuilt: true,
  }),
} satisfies Group;
