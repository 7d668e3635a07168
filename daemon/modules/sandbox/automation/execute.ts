import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { OutputHead } from '../command/head.ts';
import type { CommandService, Ended } from '../command/service.ts';
import { reasonOf } from '../command/service.ts';
import type { Execution } from '../drivers/driver.ts';
import { environmentOf } from './environment.ts';
import type { CronRow, RunRow, WebhookRow } from './tables.ts';

/** How the command of a run ended, with the head of its output. */
export interface Outcome {
  readonly status: 'succeeded' | 'failed' | 'timed_out';
  readonly error: string;
  readonly exitCode: number | null;
  /** Empty when it could not be started. */
  readonly executionId: string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command of a cron or webhook in a sandbox that runs; `started` is told its execution. */
export async function execute(
  commands: CommandService,
  definition: CronRow | WebhookRow,
  run: RunRow,
  sandboxId: string,
  started: (executionId: string) => void,
): Promise<Outcome> {
  const request = {
    command: definition.command,
    cwd: definition.workDir || undefined,
    env: environmentOf(run, definition),
    timeoutMs: definition.timeoutSeconds * SECOND_MS,
  };
  const input = run.body && run.body.length > 0 ? run.body : undefined;
  const { row, process, head, log, ended } = input
    ? await commands.startPipe(run.tenant, sandboxId, request)
    : await commands.start(run.tenant, sandboxId, request);
  started(row.id);
  // A command need not read its input; then the pipe breaks, which is its own affair.
  if (input) void feed(process, input).catch(() => undefined);
  try {
    for await (const { channel, bytes } of process.output) {
      head.add(channel, bytes);
      await log.write(bytes);
    }
    return outcomeOf(await ended, row.id, head);
  } finally {
    await log.close();
  }
}

async function feed(process: Execution, input: Uint8Array): Promise<void> {
  await process.write(input);
  await process.endInput();
}

function outcomeOf(ended: Ended, executionId: string, head: OutputHead): Outcome {
  const output = { stdout: head.text('stdout'), stderr: head.text('stderr') };
  const shown = { exitCode: ended.code, executionId, ...output };
  if (ended.code === 0) return { ...shown, status: 'succeeded', error: '' };
  if (ended.timedOut) return { ...shown, status: 'timed_out', error: 'killed after its timeout' };
  return { ...shown, status: 'failed', error: reasonOf(ended) ?? `exit status ${ended.code}` };
}
