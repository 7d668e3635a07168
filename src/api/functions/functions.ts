import { endpoint, type Group } from '../endpoint.ts';
import {
  enumeration,
  fields,
  ids,
  int32,
  int64,
  model,
  object,
  oneOf,
  stringMap,
  struct,
  t,
  timestamp,
} from '../schema.ts';

/** Where a function runs: behind your address, as a mapped call of another API, or here in isolation. */
export const ExecutionMode = enumeration('ExecutionMode', [
  'EXECUTION_MODE_UNSPECIFIED',
  'EXECUTION_MODE_WEBHOOK',
  'EXECUTION_MODE_PROXY',
  'EXECUTION_MODE_ISOLATED',
]);

/** The address that a webhook function calls. */
export const WebhookConfig = model('WebhookConfig', {
  url: t.String(),
  method: t.String(),
  headers: stringMap(),
  timeoutMs: int32(),
  /** What requests are signed with, as deliveries of webhooks are; none when empty. */
  secret: t.String(),
});

/** How arguments become a call of another API, and its answer a result. */
export const ProxyConfig = model('ProxyConfig', {
  baseUrl: t.String(),
  path: t.String(),
  method: t.String(),
  queryMapping: stringMap(),
  headerMapping: stringMap(),
  bodyMapping: stringMap(),
  responseMapping: stringMap(),
});

/** The code of an isolated function. */
export const IsolatedConfig = model('IsolatedConfig', {
  runtime: t.String(),
  code: t.String(),
  packages: t.Array(t.String()),
  dockerHost: t.String(),
});

/** A function that agents and workflows call by name. */
export const FunctionDefinition = model('Function', {
  id: t.String(),
  tenantId: t.String(),
  name: t.String(),
  description: t.String(),
  mode: ExecutionMode,
  parameters: struct(),
  webhook: WebhookConfig,
  proxy: ProxyConfig,
  isolated: IsolatedConfig,
  timeoutMs: int32(),
  memoryMb: int32(),
  maxRetries: int32(),
  enabled: t.Boolean(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});

/** One call of a function: how it went, without its arguments and result. */
export const FunctionInvocation = object(
  'FunctionInvocation',
  {
    id: t.String(),
    status: oneOf('running', 'success', 'error', 'timeout', 'cancelled', 'lost'),
    attempts: int32(),
    startedAt: timestamp(),
  },
  { durationMs: int64(), error: t.String() },
);

const here = { spec: 'functions', tag: 'Functions' } as const;

/** Functions that agents and workflows call by name. */
export const functions = {
  ListFunctions: endpoint({
    ...here,
    id: 'ListFunctions',
    method: 'GET',
    path: '/v1/functions',
    summary: 'List the functions',
    query: fields({
      tenantId: t.String(),
      mode: ExecutionMode,
      enabled: t.Boolean(),
      limit: int32(),
      offset: int32(),
    }),
    response: model('ListFunctionsResponse', { functions: t.Array(FunctionDefinition), total: int32() }),
    access: 'viewer',
  }),
  CreateFunction: endpoint({
    ...here,
    id: 'CreateFunction',
    method: 'POST',
    path: '/v1/functions',
    summary: 'Create a function',
    body: model('CreateFunctionRequest', {
      tenantId: t.String(),
      name: t.String(),
      description: t.String(),
      mode: ExecutionMode,
      parameters: struct(),
      webhook: WebhookConfig,
      proxy: ProxyConfig,
      isolated: IsolatedConfig,
      timeoutMs: int32(),
      memoryMb: int32(),
      maxRetries: int32(),
      enabled: t.Boolean(),
    }),
    response: model('CreateFunctionResponse', { function: FunctionDefinition }),
    access: 'member',
  }),
  GetFunction: endpoint({
    ...here,
    id: 'GetFunction',
    method: 'GET',
    path: '/v1/functions/{id}',
    summary: 'Get a function',
    params: ids('id'),
    query: fields({ tenantId: t.String() }),
    response: model('GetFunctionResponse', { function: FunctionDefinition }),
    access: 'viewer',
  }),
  GetFunctionByName: endpoint({
    ...here,
    id: 'GetFunctionByName',
    method: 'GET',
    path: '/v1/functions/by-name/{name}',
    summary: 'Find a function by its name',
    params: ids('name'),
    query: fields({ tenantId: t.String() }),
    response: model('GetFunctionByNameResponse', { function: FunctionDefinition }),
    access: 'viewer',
  }),
  UpdateFunction: endpoint({
    ...here,
    id: 'UpdateFunction',
    method: 'PATCH',
    path: '/v1/functions/{id}',
    summary: 'Change a function',
    params: ids('id'),
    body: model('FunctionsServiceUpdateFunctionBody', {
      tenantId: t.String(),
      name: t.String(),
      description: t.String(),
      mode: ExecutionMode,
      parameters: struct(),
      webhook: WebhookConfig,
      proxy: ProxyConfig,
      isolated: IsolatedConfig,
      timeoutMs: int32(),
      memoryMb: int32(),
      maxRetries: int32(),
      enabled: t.Boolean(),
    }),
    response: model('UpdateFunctionResponse', { function: FunctionDefinition }),
    access: 'member',
  }),
  DeleteFunction: endpoint({
    ...here,
    id: 'DeleteFunction',
    method: 'DELETE',
    path: '/v1/functions/{id}',
    summary: 'Delete a function',
    params: ids('id'),
    query: fields({ tenantId: t.String() }),
    response: model('DeleteFunctionResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
  GetIsolationStatus: endpoint({
    ...here,
    id: 'GetIsolationStatus',
    method: 'GET',
    path: '/v1/functions/isolation-status',
    summary: 'Tell whether code can run in isolation here',
    response: model('GetIsolationStatusResponse', {
      available: t.Boolean(),
      dockerHost: t.String(),
      message: t.String(),
    }),
    access: 'viewer',
  }),
  InvokeFunction: endpoint({
    ...here,
    spec: 'extra',
    id: 'InvokeFunction',
    method: 'POST',
    path: '/v1/functions/{id}/invoke',
    summary: 'Call a function with arguments',
    params: ids('id'),
    body: model('InvokeFunctionRequest', { tenantId: t.String(), arguments: struct() }),
    response: object(
      'InvokeFunctionResponse',
      { status: oneOf('success', 'error', 'timeout'), durationMs: int64(), attempts: int32() },
      { invocationId: t.String(), result: t.Unknown(), error: t.String(), logs: t.String() },
    ),
    access: 'member',
  }),
  ListFunctionInvocations: endpoint({
    ...here,
    spec: 'extra',
    id: 'ListFunctionInvocations',
    method: 'GET',
    path: '/v1/functions/{id}/invocations',
    summary: 'Show how the last 100 calls of a function went',
    params: ids('id'),
    query: fields({ tenantId: t.String(), limit: int32() }),
    response: object('ListFunctionInvocationsResponse', { invocations: t.Array(FunctionInvocation) }),
    access: 'viewer',
  }),
} satisfies Group;
