import { type Command, InvalidArgumentError } from 'commander';
import type { usage } from '../../../src/api/gateway/usage.ts';
import type { Value } from '../../../src/api/schema.ts';
import { rfc3339 } from '../../../src/kit/time.ts';
import { duration, positive, word } from '../../args.ts';

/** The options that choose requests. */
export interface FilterOptions {
  model?: string;
  key?: string;
  status?: string;
  ending?: 'completed' | 'failed' | 'stopped' | 'refused';
  surface?: string;
  slower?: number;
  dearer?: number;
}

/** What the operations take. */
export type FilterQuery = Omit<NonNullable<Value<typeof usage.WatchRequests.query>>, 'after'>;

/** Declares the options that choose requests. */
export function filterOptions(command: Command): Command {
  return command
    .option('--model <name>', 'Asked for or answered; a final * stands for any rest')
    .option('--key <id>', 'Only of this API key or person')
    .option('--status <status>', 'An HTTP status, or a class such as 5xx', status)
    .option(
      '--ending <ending>',
      'completed, failed, stopped or refused',
      word('completed', 'failed', 'stopped', 'refused'),
    )
    .option('--surface <surface>', 'chat, responses, embeddings...')
    .option('--slower <duration>', 'Only those that took at least so long', duration)
    .option('--dearer <usd>', 'Only those that cost at least so much', positive);
}

/** The query of these options. */
export function filterQuery({
  model,
  key,
  status,
  ending,
  surface,
  slower,
  dearer,
}: FilterOptions): FilterQuery {
  return { model, key, status, ending, surface, minDurationMs: slower, minCostUsd: dearer };
}

/** The time that lies so far back. */
export function ago(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : rfc3339(Date.now() - ms);
}

function status(text: string): string {
  if (!/^[1-5](\d\d|xx)$/.test(text))
    throw new InvalidArgumentError('It must be a status such as 429, or a class such as 5xx.');
  return text;
}
