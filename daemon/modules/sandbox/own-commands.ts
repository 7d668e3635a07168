import type { CommandRequest, CommandService } from './command/service.ts';
import type { ExecutionRow } from './tables.ts';

/** How a command of another module has ended. */
export interface CommandEnd {
  /** `lost`: nobody knows how it ended, because its sandbox or this host went away meanwhile, or the start was cut off. */
  readonly state: 'finished' | 'lost';
  /** 128 + the signal's number when one ended it; null when it is lost. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** Why it ended badly where that is not its own doing, for a person. */
  readonly reason: string | undefined;
  readonly durationMs: number;
  /** False when it may never have begun, and may still run: its start was cut off. */
  readonly hasBegun: boolean;
  /** stdout and stderr in the order in which they were written. */
  readonly output: string;
}

/** Commands that another module runs in a sandbox. They belong to the sandbox: they outlive this process. */
export interface OwnCommands {
  /** Starts a command under an id that the caller has chosen and written down. Errors: as ExecuteCommand. */
  begin(tenant: string, sandboxId: string, id: string, request: CommandRequest): Promise<void>;
  /**
   * Waits until a command has ended, also after a restart. Undefined: nothing was ever started under this id. Of a long
   * output its beginning and its end are kept, `most` bytes in all. When the signal fires it is to be killed, or not waited for.
   */
  ended(
    tenant: string,
    sandboxId: string,
    id: string,
    wish: { readonly most: number; readonly signal: AbortSignal },
  ): Promise<CommandEnd | undefined>;
  /** Kills a command and all it has started; one that has ended is fine. */
  kill(id: string): Promise<void>;
}

/** How much of a long output is its beginning. */
const HEAD_SHARE = 0.25;

/** The commands of other modules, on the service that all run by. */
export function ownCommands(commands: CommandService): OwnCommands {
  return {
    async begin(tenant, sandboxId, id, request) {
      await commands.startBackground(tenant, sandboxId, request, id);
    },
    async ended(tenant, sandboxId, id, { most, signal }) {
      const row = await commands.ended(tenant, sandboxId, id, signal);
      return row && endOf(row, await outputOf(commands.logs, row, most));
    },
    kill: (id) => commands.end(id, 'SIGKILL'),
  };
}

function endOf(row: ExecutionRow, output: string): CommandEnd {
  const { exitCode, timedOut, error, ref, createdAt, finishedAt } = row;
  const state = row.state === 'finished' ? 'finished' : 'lost';
  const durationMs = row.durationMs ?? (finishedAt ?? createdAt) - createdAt;
  const hasBegun = state === 'finished' || ref !== null;
  return { state, exitCode, timedOut, reason: error ?? undefined, durationMs, hasBegun, output };
}

async function outputOf(
  logs: CommandService['logs'],
  { sandboxId, id, logDropped }: ExecutionRow,
  most: number,
): Promise<string> {
  const size = await logs.size(sandboxId, id);
  const read = async (from: number, bytes: number) => {
    const { body } = await logs.read(sandboxId, id, from, logDropped);
    return firstText(body, bytes);
  };
  if (size - logDropped <= most) return read(logDropped, most);
  const head = Math.floor(most * HEAD_SHARE);
  const tail = most - head;
  const missing = size - most;
  return `${await read(logDropped, head)}\n[${missing} bytes of output are not kept]\n${await read(size - tail, tail)}`;
}

async function firstText(body: ReadableStream<Uint8Array>, bytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let left = bytes;
  for await (const part of body) {
    parts.push(part.subarray(0, left));
    left -= part.length;
    if (left <= 0) break;
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}
