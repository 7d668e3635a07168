import { endpoint, type Group } from '../endpoint.ts';
import { ids, int32, int64, object, oneOf, struct, t, timestamp } from '../schema.ts';

/** What endpoints are told about (spec, Outgoing sandbox lifecycle events). */
export const LIFECYCLE_EVENTS = [
  'sandbox.started',
  'sandbox.stopped',
  'sandbox.archived',
  'sandbox.deleted',
  'sandbox.error',
] as const;

const event = oneOf(...LIFECYCLE_EVENTS);

/** An endpoint that is told what happens to sandboxes. Its secret is never shown again. */
export const WebhookEndpoint = object('WebhookEndpoint', {
  id: t.String(),
  url: t.String(),
  events: t.Array(t.String()),
  hasSecret: t.Boolean(),
  createdAt: timestamp(),
});

/** One event on its way to an endpoint, with how its last attempt ended. */
export const WebhookDelivery = object(
  'WebhookDelivery',
  {
    id: t.String(),
    event: t.String(),
    status: oneOf('pending', 'delivered', 'failed'),
    attempts: int32(),
    createdAt: timestamp(),
  },
  {
    responseStatus: int32(),
    error: t.String(),
    durationMs: int64(),
    deliveredAt: timestamp(),
    payload: struct(),
  },
);

const here = { spec: 'guide', tag: 'Lifecycle webhooks' } as const;

/** Endpoints that are told what happens to sandboxes. */
export const lifecycleWebhooks = {
  ListWebhookEndpoints: endpoint({
    ...here,
    id: 'ListWebhookEndpoints',
    method: 'GET',
    path: '/v1/sandbox-webhooks',
    summary: 'List the endpoints',
    response: object('ListWebhookEndpointsResponse', { webhooks: t.Array(WebhookEndpoint) }),
    access: 'viewer',
    unbuilt: true,
  }),
  CreateWebhookEndpoint: endpoint({
    ...here,
    id: 'CreateWebhookEndpoint',
    method: 'POST',
    path: '/v1/sandbox-webhooks',
    summary: 'Add an endpoint',
    body: object(
      'CreateWebhookEndpointRequest',
      { url: t.String({ minLength: 1 }) },
      {
        events: t.Array(t.Union([event, t.Literal('*')]), { description: 'All when absent or *.' }),
        secret: t.String(),
      },
    ),
    response: WebhookEndpoint,
    access: 'member',
    unbuilt: true,
  }),
  DeleteWebhookEndpoint: endpoint({
    ...here,
    id: 'DeleteWebhookEndpoint',
    method: 'DELETE',
    path: '/v1/sandbox-webhooks/{id}',
    summary: 'Remove an endpoint',
    params: ids('id'),
    response: object('DeleteWebhookEndpointResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
    unbuilt: true,
  }),
  ListWebhookDeliveries: endpoint({
    ...here,
    id: 'ListWebhookDeliveries',
    method: 'GET',
    path: '/v1/sandbox-webhooks/{id}/deliveries',
    summary: 'List the last 100 deliveries to an endpoint',
    params: ids('id'),
    response: object('ListWebhookDeliveriesResponse', { deliveries: t.Array(WebhookDelivery) }),
    access: 'viewer',
    unbuilt: true,
  }),
  TestWebhookEndpoint: endpoint({
    ...here,
    id: 'TestWebhookEndpoint',
    method: 'POST',
    path: '/v1/sandbox-webhooks/{id}/test',
    summary: 'Send a test event to an endpoint',
    params: ids('id'),
    response: object('TestWebhookEndpointResponse', { delivery: WebhookDelivery }),
    access: 'member',
    unbuilt: true,
  }),
} satisfies Group;
