/** Channels of binary frames: their first byte. `replay` is output from before the connection. */
export const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, replay: 3 } as const;

/** Code with which the daemon closes a terminal that another connection has taken over. */
export const TAKEN_OVER = 4001;

/** How a command ended: `code` is 128 + signal number when a signal ended it. */
export interface CommandExit {
  readonly code: number;
  readonly signal?: string;
  /** Why it could not start or was ended by the system, when that is known. */
  readonly message?: string;
}

/** What the daemon sends. */
export type ServerFrame =
  | { readonly type: 'output'; readonly channel: 'stdout' | 'stderr'; readonly bytes: Uint8Array }
  /** `offset` is that of the terminal's next byte; commands on pipes have none. */
  | { readonly type: 'ready'; readonly id: string; readonly offset?: number }
  /** Bytes up to `to` are not kept any more. */
  | { readonly type: 'gap'; readonly to: number }
  | ({ readonly type: 'exit' } & CommandExit)
  | { readonly type: 'error'; readonly message: string };

/** Bytes for the command's stdin. */
export function inputFrame(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(bytes.length + 1);
  frame[0] = CHANNEL.stdin;
  frame.set(bytes, 1);
  return frame;
}

/** Reads a frame; undefined for those that say nothing to this client. */
export function readFrame(data: string | ArrayBuffer): ServerFrame | undefined {
  return typeof data === 'string' ? readControl(data) : readOutput(new Uint8Array(data));
}

function readOutput(frame: Uint8Array): ServerFrame | undefined {
  const [channel] = frame;
  if (channel === CHANNEL.stdout || channel === CHANNEL.replay)
    return { type: 'output', channel: 'stdout', bytes: frame.subarray(1) };
  if (channel === CHANNEL.stderr) return { type: 'output', channel: 'stderr', bytes: frame.subarray(1) };
  return undefined;
}

function readControl(text: string): ServerFrame | undefined {
  const message = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const words = (name: string) => (typeof message[name] === 'string' ? message[name] : undefined);
  const number = (name: string) => (typeof message[name] === 'number' ? message[name] : undefined);
  if (message.type === 'ready') return { type: 'ready', id: words('id') ?? '', offset: number('offset') };
  if (message.type === 'gap') return { type: 'gap', to: number('to') ?? 0 };
  if (message.type === 'error') return { type: 'error', message: words('message') ?? 'unknown' };
  if (message.type !== 'exit' || typeof message.code !== 'number') return undefined;
  return { type: 'exit', code: message.code, signal: words('signal'), message: words('message') };
}
