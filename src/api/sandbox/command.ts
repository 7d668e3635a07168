import { endpoint, type Group } from '../endpoint.ts';
import { binary, fields, ids, int32, int64, object, oneOf, stringMap, t, timestamp } from '../schema.ts';

/** A command for a sandbox. */
export const ExecuteCommandRequest = object(
  'ExecuteCommandRequest',
  { command: t.String({ minLength: 1, description: 'A command line for the shell of the sandbox.' }) },
  {
    cwd: t.String(),
    background: t.Boolean({ description: 'End the stream at once and leave the command running.' }),
    timeout: int32({ minimum: 1, description: 'Milliseconds before it is killed; none when absent.' }),
    uid: int32({ minimum: 0 }),
    gid: int32({ minimum: 0 }),
    envs: stringMap(),
  },
);

/** One message of a running command or piece of code. */
export const ExecutionEvent = object(
  'ExecutionEvent',
  {
    type: oneOf(
      'init',
      'status',
      'stdout',
      'stderr',
      'result',
      'execution_count',
      'execution_complete',
      'error',
      'ping',
    ),
    timestamp: t.Integer({ description: 'Unix time in milliseconds.' }),
  },
  {
    text: t.String({ description: 'What was printed; of init the id of the command.' }),
    execution_count: int32(),
    execution_time: t.Integer({ description: 'Milliseconds that it ran.' }),
    results: t.Record(t.String(), t.Unknown(), { description: 'A result by media type.' }),
    error: object('ExecutionError', {
      ename: t.String(),
      evalue: t.String(),
      traceback: t.Array(t.String()),
    }),
  },
);

/** How a command stands. `exit_code` and `finished_at` are there once it has ended. */
export const CommandStatus = object(
  'CommandStatus',
  { id: t.String(), content: t.String(), running: t.Boolean(), error: t.String(), started_at: timestamp() },
  { exit_code: int32(), finished_at: timestamp() },
);

/** How a command behind a WebSocket is started when a first frame says so, in place of the query. */
export const PtyStart = object(
  'PtyStart',
  { type: t.Literal('start') },
  {
    cols: int32({ minimum: 1, maximum: 10_000 }),
    rows: int32({ minimum: 1, maximum: 10_000 }),
    cwd: t.String(),
    uid: int32({ minimum: 0 }),
    command: t.String(),
    tty: t.Boolean({ default: true }),
    env: stringMap(),
  },
);

/** A terminal that can be attached to. */
export const TerminalInfo = object('TerminalInfo', {
  id: t.String(),
  command: t.String({ description: 'What runs on it; empty for a login shell.' }),
  createdAt: timestamp(),
  cols: int32(),
  rows: int32(),
  attached: t.Boolean({ description: 'Somebody has its keyboard now.' }),
  viewers: int32({ minimum: 0 }),
  offset: int64(),
  replayFrom: int64(),
});

/** How a terminal is opened, or attached to again. */
export const PtyOptions = fields({
  session: t.String({ description: 'Attach to this terminal in place of opening one.' }),
  since: int64(),
  mode: oneOf('control', 'view'),
  start: oneOf('query', 'frame'),
  cols: int32({ minimum: 1, maximum: 10_000 }),
  rows: int32({ minimum: 1, maximum: 10_000 }),
  cwd: t.String(),
  uid: int32({ minimum: 0 }),
  command: t.String({ description: 'A command line for the shell; an interactive login shell when absent.' }),
  tty: t.Boolean({ default: true, description: 'false gives plain pipes in place of a terminal.' }),
  env: t.Array(t.String({ pattern: '^[^=]+=' }), { description: 'K=V, as often as there are variables.' }),
});

const here = { spec: 'agents', tag: 'Sandbox commands' } as const;

/** Running commands in a sandbox. */
export const sandboxCommand = {
  PingSandbox: endpoint({
    ...here,
    spec: 'guide',
    id: 'PingSandbox',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/ping',
    summary: 'Answer when a sandbox is reachable',
    params: ids('sandboxId'),
    response: object('PingSandboxResponse', { status: t.Literal('ok') }),
    access: 'viewer',
  }),
  ExecuteCommand: endpoint({
    ...here,
    spec: 'guide',
    id: 'ExecuteCommand',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/command',
    summary: 'Run a command and stream what it prints',
    params: ids('sandboxId'),
    body: ExecuteCommandRequest,
    response: ExecutionEvent,
    stream: 'sse',
    access: 'member',
  }),
  InterruptCommand: endpoint({
    ...here,
    spec: 'guide',
    id: 'InterruptCommand',
    method: 'DELETE',
    path: '/v1/sandbox/{sandboxId}/command',
    summary: 'Stop a command and all it started',
    params: ids('sandboxId'),
    query: t.Object({ id: t.String({ minLength: 1, description: 'The id of the command.' }) }),
    response: object('InterruptCommandResponse', { id: t.String(), status: t.Literal('interrupted') }),
    access: 'member',
  }),
  GetCommandStatus: endpoint({
    ...here,
    spec: 'guide',
    id: 'GetCommandStatus',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/command/status/{cmdId}',
    summary: 'Get the state of a command',
    params: ids('sandboxId', 'cmdId'),
    response: CommandStatus,
    access: 'viewer',
  }),
  GetCommandLogs: endpoint({
    ...here,
    spec: 'guide',
    id: 'GetCommandLogs',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/command/{cmdId}/logs',
    summary: 'Read what a command printed',
    params: ids('sandboxId', 'cmdId'),
    query: fields({ cursor: int64() }),
    response: binary('text/plain'),
    stream: 'bytes',
    access: 'viewer',
  }),
  SandboxPty: endpoint({
    ...here,
    spec: 'extra',
    id: 'SandboxPty',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/pty',
    summary: 'Open a terminal in a sandbox',
    params: ids('sandboxId'),
    query: PtyOptions,
    response: binary('application/octet-stream'),
    stream: 'websocket',
    access: 'member',
  }),
  ListTerminals: endpoint({
    ...here,
    spec: 'extra',
    id: 'ListTerminals',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/pty/sessions',
    summary: 'List the terminals of a sandbox that can be attached to',
    params: ids('sandboxId'),
    response: object('ListTerminalsResponse', { terminals: t.Array(TerminalInfo) }),
    access: 'viewer',
  }),
  EndTerminal: endpoint({
    ...here,
    spec: 'extra',
    id: 'EndTerminal',
    method: 'DELETE',
    path: '/v1/sandbox/{sandboxId}/pty/sessions/{terminalId}',
    summary: 'Hang up on a terminal',
    params: ids('sandboxId', 'terminalId'),
    response: object('EndTerminalResponse', { id: t.String(), status: t.Literal('ended') }),
    access: 'member',
  }),
} satisfies Group;
