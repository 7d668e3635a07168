import type { ExecutionEvent } from '../../../../src/api/sandbox/command.ts';
import type { Value } from '../../../../src/api/schema.ts';

/** What a command has come to. */
export interface CommandOutput {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it was ended, when it did not end by itself. */
  readonly reason?: string;
  /** Output is missing: there was more than is shown. */
  readonly truncated?: true;
}

type Event = Value<typeof ExecutionEvent>;

/** Characters of each stream that are shown. */
const SHOWN = 100_000;

/** Reads the events of a command to their end. */
export async function readCommand(response: Response): Promise<CommandOutput> {
  const output = { stdout: '', stderr: '' };
  let truncated = false;
  let last: Event | undefined;
  for await (const event of events(response)) {
    if (event.type === 'stdout' || event.type === 'stderr') {
      const { text = '', type } = event;
      const room = SHOWN - output[type].length;
      truncated ||= text.length > room;
      output[type] += text.slice(0, Math.max(0, room));
    }
    last = event;
  }
  const { error } = last ?? {};
  const code = Number(error?.evalue ?? 0);
  const timedOut = error?.ename === 'CommandTimeout';
  return {
    exitCode: Number.isInteger(code) ? code : 1,
    ...output,
    ...(error && (timedOut || error.ename === 'InternalError') ? { reason: error.traceback.join('\n') } : {}),
    ...(truncated ? { truncated } : {}),
  };
}

/** The events of a stream that this daemon has made: one line of data each. */
async function* events(response: Response): AsyncGenerator<Event> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of response.body ?? []) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6)) as Event;
  }
}
