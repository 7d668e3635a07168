/** Channel bytes of binary frames. `replay` carries what was printed before the peer came. */
export const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, replay: 3 } as const;

/** Codes with which the daemon closes a socket (RFC 6455, 7.4.2: 4000 to 4999 are free). */
export const CLOSE = { takenOver: 4001, ended: 4002, badStart: 4003 } as const;

/** What a peer says in a text frame. */
export type Control =
  | { readonly type: 'resize'; readonly cols: number; readonly rows: number }
  | { readonly type: 'signal'; readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP' }
  | { readonly type: 'eof' }
  | { readonly type: 'ping' };

/** What a peer is told whose text frame is none of these. */
export const CONTROL_FORM = 'a text frame must be {"type": "resize" | "signal" | "eof" | "ping", ...}';

/** Bytes behind their channel. */
export function frame(channel: number, bytes: Uint8Array): Uint8Array {
  const result = new Uint8Array(bytes.length + 1);
  result[0] = channel;
  result.set(bytes, 1);
  return result;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGHUP'];

/** Reads a text frame; undefined when it is no control message. */
export function parseControl(text: string): Control | undefined {
  const message = parseJson(text);
  if (message?.type === 'eof' || message?.type === 'ping') return { type: message.type };
  if (message?.type === 'signal' && SIGNALS.includes(String(message.signal))) return message as Control;
  const isSize = (value: unknown) => Number.isInteger(value) && Number(value) > 0 && Number(value) <= 10_000;
  return message?.type === 'resize' && isSize(message.cols) && isSize(message.rows)
    ? (message as Control)
    : undefined;
}

/** A JSON object; undefined when the text is none. */
export function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
