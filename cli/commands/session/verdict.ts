import type { Command } from 'commander';
import type { Client } from '../../../src/client/client.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { list } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { giveVerdict } from '../review/verdict.ts';
import { pendingBelow } from './sub-sessions.ts';

/** What `svc session approve` and `svc session deny` take. */
export interface SessionVerdict {
  readonly reason?: string;
  readonly deny?: readonly string[];
  readonly approve?: readonly string[];
  readonly json?: true;
}

/** Declares arguments and options of one of both. `other` is the option for calls that are decided the other way. */
export function sessionVerdictOptions(command: Command, other: 'approve' | 'deny'): Command {
  const verb = other === 'deny' ? 'Deny' : 'Approve';
  return command
    .argument('<id>', 'Id of a session, or of a review')
    .option('--note, --reason <text>', 'Why: kept with the review, and told to the agent')
    .option(`--${other} <call>`, `${verb} this call all the same; repeatable`, list)
    .option('--json', 'Print the answers as JSON');
}

/** Decides a review, or all that a session and its sub-agents wait for. Errors: failed_precondition when that is nothing. */
export async function decideFor(
  cli: Cli,
  id: string,
  action: 'approve' | 'deny',
  { reason, ...more }: SessionVerdict,
): Promise<number> {
  const reviews = id.startsWith('rev_') ? [id] : await pendingIds(await cli.client(), id);
  if (reviews.length === 0)
    throw fail('failed_precondition', {
      message: `Nothing in the session ${id} waits for approval. How it stands: svc session show ${id}`,
    });
  return giveVerdict(cli, reviews, action, { note: reason, ...more });
}

async function pendingIds(client: Client, sessionId: string): Promise<string[]> {
  return (await pendingBelow(client, sessionId)).flatMap(({ id }) => id ?? []);
}
