import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, int64, model, object, oneOf, t, timestamp } from '../schema.ts';

/** A port of a sandbox that is reachable from outside. */
export const SandboxPortMapping = model('SandboxPortMapping', {
  id: int64(),
  sandboxId: t.String(),
  port: int32(),
  protocol: t.String(),
  subdomain: t.String(),
  url: t.String(),
  status: t.String(),
  wakeCommand: t.String(),
  createdAt: timestamp(),
});

/** A port that something in a sandbox listens on. */
export const DetectedPort = model('DetectedPort', {
  port: int32(),
  protocol: oneOf('tcp', 'tcp6'),
  address: t.String({ description: 'The address that it listens on, such as 0.0.0.0, 127.0.0.1 or ::.' }),
  pid: int32(),
  process: t.String(),
  isExposed: t.Boolean(),
});

const here = { spec: 'agents', tag: 'Sandbox ports' } as const;

/** Reaching the ports of a sandbox. */
export const sandboxPorts = {
  ListExposedPorts: endpoint({
    ...here,
    id: 'ListExposedPorts',
    method: 'GET',
    path: '/v1/sandbox/{sessionId}/ports',
    summary: 'List the exposed ports',
    params: ids('sessionId'),
    query: fields({ tenantId: t.String() }),
    response: model('ListExposedPortsResponse', { ports: t.Array(SandboxPortMapping) }),
    access: 'viewer',
  }),
  ExposePort: endpoint({
    ...here,
    id: 'ExposePort',
    method: 'POST',
    path: '/v1/sandbox/{sessionId}/ports',
    summary: 'Expose a port under an address of its own',
    params: ids('sessionId'),
    body: model('AgentsServiceExposePortBody', {
      tenantId: t.String(),
      port: int32({ minimum: 1, maximum: 65_535 }),
      protocol: t.String({ description: 'http, which is also the default.' }),
      wakeCommand: t.String({
        description: 'A request to the port wakes the sandbox when it sleeps, and this is run in it then.',
      }),
    }),
    response: model('ExposePortResponse', { mapping: SandboxPortMapping }),
    access: 'member',
  }),
  DetectListeningPorts: endpoint({
    ...here,
    id: 'DetectListeningPorts',
    method: 'GET',
    path: '/v1/sandbox/{sessionId}/ports/detect',
    summary: 'Find the ports that something listens on',
    params: ids('sessionId'),
    query: fields({ tenantId: t.String() }),
    response: model('DetectListeningPortsResponse', { ports: t.Array(DetectedPort) }),
    access: 'viewer',
  }),
  UnexposePort: endpoint({
    ...here,
    id: 'UnexposePort',
    method: 'DELETE',
    path: '/v1/sandbox/{sessionId}/ports/{port}',
    summary: 'Stop exposing a port',
    params: t.Object({ sessionId: t.String({ minLength: 1 }), port: int32() }),
    query: fields({ tenantId: t.String() }),
    response: model('UnexposePortResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
  CreatePreviewUrl: endpoint({
    ...here,
    spec: 'guide',
    id: 'CreatePreviewUrl',
    method: 'POST',
    path: '/v1/sandbox/instances/{sandboxId}/preview-url',
    summary: 'Sign a link to a port that needs no credential',
    params: ids('sandboxId'),
    body: object(
      'CreatePreviewUrlRequest',
      { port: int32({ minimum: 1, maximum: 65_535 }) },
      { expires_in_seconds: int32({ minimum: 1, maximum: 86_400, description: '3600 when absent.' }) },
    ),
    response: object('CreatePreviewUrlResponse', { url: t.String(), expires_at: timestamp() }),
    access: 'member',
  }),
  ConnectSandboxPort: endpoint({
    ...here,
    spec: 'extra',
    id: 'ConnectSandboxPort',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/ports/{port}/connect',
    summary: 'Carry the bytes of a connection to a port over a WebSocket',
    params: t.Object({ sandboxId: t.String({ minLength: 1 }), port: int32({ minimum: 1, maximum: 65_535 }) }),
    response: model('ConnectSandboxPortMessage', {
      type: t.Literal('eof', { description: 'Binary frames carry bytes; this says that there are no more.' }),
    }),
    access: 'member',
    stream: 'websocket',
  }),
} satisfies Group;
