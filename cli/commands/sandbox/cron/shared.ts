import type { Command } from 'commander';
import { MISSED_RUNS, OVERLAPS } from '../../../../src/api/sandbox/crons.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import { duration, word } from '../../../args.ts';
import { shellLine } from '../../../quote.ts';

/** Options that crons are made and changed with. */
export interface CronOptions {
  name?: string;
  timezone?: string;
  workDir?: string;
  timeout?: number;
  overlap?: (typeof OVERLAPS)[number];
  missed?: (typeof MISSED_RUNS)[number];
  wake?: boolean;
}

/** Declares them. */
export function cronOptions(command: Command): Command {
  return command
    .option('--name <name>', 'What it is for')
    .option('--timezone <zone>', 'Time zone of the schedule, such as Europe/Berlin; UTC by itself')
    .option('--work-dir <path>', 'Directory to run in')
    .option('--timeout <duration>', 'Time after which a run is killed, such as 10m', duration)
    .option('--overlap <policy>', `While the run before goes on: ${OVERLAPS.join(', ')}`, word(...OVERLAPS))
    .option(
      '--missed <policy>',
      `Times that svc was not running: ${MISSED_RUNS.join(', ')}`,
      word(...MISSED_RUNS),
    )
    .option('--no-wake', 'Fail in place of waking a sandbox that sleeps')
    .option('--json', 'Print JSON');
}

/** What they say, as the API takes it. */
export function cronFields({ name, timezone, workDir, timeout, overlap, missed, wake }: CronOptions) {
  return {
    name,
    timezone,
    workDir,
    overlap,
    missedRuns: missed,
    wake: wake === false ? false : undefined,
    timeoutSeconds: timeout === undefined ? undefined : Math.ceil(timeout / SECOND_MS),
  };
}

/** One word is a line for the shell; several are a program and its arguments. */
export function commandLine(words: readonly string[]): string {
  return words.length === 1 ? (words[0] ?? '') : shellLine(words);
}
