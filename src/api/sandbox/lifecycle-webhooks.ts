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

const shown = {
  id: t.String(),
  url: t.String(),
  events: t.Array(t.String()),
  hasSecret: t.Boolean(),
  createdAt: timestamp(),
} as const;

/** An endpoint that is told what happens to sandboxes. Its secret is never shown again. */
export const WebhookEndpoint = object('WebhookEndpoint', shown);

/** An endpoint that was just made, with the secret that was made for it when none was given. */
export const CreatedWebhookEndpoint = object('CreatedWebhookEndpoint', shown, { secret: t.String() });

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
  }),
  CreateWebhookEndpoint: endpoint({
    ...here,
    id: 'CreateWebhookEndpoint',
    method: 'POST',
    path: '/v1/sandbox-webhooks',
    summary: 'Add an endpoint',
    body: object(
      'CreateWebhookEndpointRequest',
      { url: t.String({ minLength: 1, maxLength: 2048 }) },
      {
        events: t.Array(t.Union([event, t.Literal('*')]), { description: 'All when absent or *.' }),
        secret: t.String({
          maxLength: 256,
          description: 'Payloads are signed with it; made and shown once when absent.',
        }),
      },
    ),
    response: CreatedWebhookEndpoint,
    access: 'member',
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
  }),
  ReplayWebhookDelivery: endpoint({
    ...here,
    spec: 'extra',
    id: 'ReplayWebhookDelivery',
    method: 'POST',
    path: '/v1/sandbox-webhooks/{id}/deliveries/{deliveryId}/replay',
    summary: 'Send a delivery once more, under its own id',
    params: ids('id', 'deliveryId'),
    response: object('ReplayWebhookDeliveryResponse', { delivery: WebhookDelivery }),
    access: 'member',
  }),
} satisfies Group;
