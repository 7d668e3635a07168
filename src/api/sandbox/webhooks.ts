import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, int64, model, object, oneOf, struct, t, timestamp } from '../schema.ts';
import { RUN_STATUSES } from './crons.ts';

const wake = () =>
  t.Boolean({ description: 'Wakes a sandbox that sleeps or is archived; true when absent.' });
const unsigned = () =>
  t.Boolean({
    description: 'Takes requests without a signature. Its address is the secret, so it cannot be chosen.',
  });

/** A command that runs in a sandbox when its address is called. */
export const SandboxWebhookDef = model('SandboxWebhookDef', {
  id: int64(),
  tenantId: t.String(),
  sandboxId: t.String(),
  sessionId: t.String(),
  name: t.String(),
  path: t.String(),
  url: t.String(),
  command: t.String(),
  workDir: t.String(),
  timeoutSeconds: int32(),
  enabled: t.Boolean(),
  rateLimitRpm: int32(),
  lastTriggeredAt: timestamp(),
  triggerCount: int32(),
  errorCount: int32(),
  lastError: t.String(),
  autoRecreate: t.Boolean(),
  sandboxConfig: struct(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
  wake: wake(),
  unsigned: unsigned(),
});

const here = { spec: 'agents', tag: 'Sandbox webhooks' } as const;

/** Commands that run in a sandbox when an address is called. */
export const sandboxWebhooks = {
  ListWebhooks: endpoint({
    ...here,
    id: 'ListWebhooks',
    method: 'GET',
    path: '/v1/sandbox/webhooks',
    summary: 'List the webhooks of sandboxes',
    query: fields({ tenantId: t.String(), sandboxId: t.String(), limit: int32(), offset: int32() }),
    response: model('ListWebhooksResponse', { webhooks: t.Array(SandboxWebhookDef), total: int32() }),
    access: 'viewer',
  }),
  CreateWebhook: endpoint({
    ...here,
    id: 'CreateWebhook',
    method: 'POST',
    path: '/v1/sandbox/webhooks',
    summary: 'Make a webhook that runs a command',
    body: model('CreateWebhookRequest', {
      tenantId: t.String(),
      sandboxId: t.String(),
      sessionId: t.String(),
      name: t.String(),
      path: t.String(),
      command: t.String(),
      workDir: t.String(),
      timeoutSeconds: int32(),
      rateLimitRpm: int32(),
      autoRecreate: t.Boolean(),
      sandboxConfig: struct(),
      wake: wake(),
      unsigned: unsigned(),
    }),
    response: model('CreateWebhookResponse', { webhook: SandboxWebhookDef, secret: t.String() }),
    access: 'member',
  }),
  UpdateWebhook: endpoint({
    ...here,
    spec: 'extra',
    id: 'UpdateWebhook',
    method: 'PATCH',
    path: '/v1/sandbox/webhooks/{id}',
    summary: 'Change a webhook',
    params: t.Object({ id: int64() }),
    body: model('UpdateWebhookRequest', {
      tenantId: t.String(),
      name: t.String(),
      command: t.String(),
      workDir: t.String(),
      enabled: t.Boolean(),
      timeoutSeconds: int32(),
      rateLimitRpm: int32(),
      wake: wake(),
    }),
    response: model('UpdateWebhookResponse', { webhook: SandboxWebhookDef }),
    access: 'member',
  }),
  DeleteWebhook: endpoint({
    ...here,
    id: 'DeleteWebhook',
    method: 'DELETE',
    path: '/v1/sandbox/webhooks/{id}',
    summary: 'Remove a webhook',
    params: t.Object({ id: int64() }),
    query: fields({ tenantId: t.String() }),
    response: model('DeleteWebhookResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
  InvokeSandboxWebhook: endpoint({
    ...here,
    spec: 'extra',
    id: 'InvokeSandboxWebhook',
    method: 'POST',
    path: '/hooks/{path}',
    summary: 'Run the command of a webhook',
    params: ids('path'),
    query: fields({
      wait: int32({
        minimum: 0,
        maximum: 60,
        description: 'Seconds to wait for the result; 8 when absent. The command goes on after it.',
      }),
    }),
    headers: fields({ 'x-hub-signature-256': t.String() }),
    rawBody: 'application/json',
    body: struct(),
    bodyLimit: 256 * 1024,
    response: object(
      'InvokeSandboxWebhookResponse',
      {
        triggerId: t.String({ description: 'The id of the run, as ListTriggers has it.' }),
        status: oneOf(...RUN_STATUSES, 'duplicate'),
      },
      {
        executionId: t.String(),
        exitCode: int32(),
        stdout: t.String(),
        stderr: t.String(),
        error: t.String(),
      },
    ),
    access: 'public',
  }),
} satisfies Group;
