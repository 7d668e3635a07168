import { int32, model, oneOf, struct, t, timestamp } from '../schema.ts';

/** Where a node is drawn. */
export const WorkflowNodePosition = model('WorkflowNodePosition', { x: t.Number(), y: t.Number() });

/** The kinds of nodes that workflows are made of. */
export const NODE_TYPES = [
  'start',
  'auth',
  'rateLimiter',
  'cache',
  'router',
  'loadBalancer',
  'inputGuardrails',
  'outputGuardrails',
  'provider',
  'function',
  'httpRequest',
  'webhook',
  'ifElse',
  'response',
  'agent',
] as const;

/** One step of a workflow. `config` depends on its type. */
export const WorkflowNode = model('WorkflowNode', {
  id: t.String(),
  type: oneOf(...NODE_TYPES),
  label: t.String(),
  position: WorkflowNodePosition,
  config: struct(),
});

/** A way from one node to the next. */
export const WorkflowEdge = model('WorkflowEdge', {
  id: t.String(),
  source: t.String(),
  target: t.String(),
  sourceHandle: t.String(),
  targetHandle: t.String(),
});

/** The part of the drawing that is seen. */
export const WorkflowViewport = model('WorkflowViewport', { x: t.Number(), y: t.Number(), zoom: t.Number() });

/** Nodes and the ways between them. */
export const Workflow = model('Workflow', {
  id: t.String(),
  tenantId: t.String(),
  name: t.String(),
  description: t.String(),
  nodes: t.Array(WorkflowNode),
  edges: t.Array(WorkflowEdge),
  viewport: WorkflowViewport,
  enabled: t.Boolean(),
  version: int32(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});
