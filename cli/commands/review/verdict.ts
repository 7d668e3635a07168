import type { Command } from 'commander';
import { list } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { showJson } from '../../ui/show.ts';
import { forEach } from '../sandbox/each.ts';
import { checkExceptions, type Decision, decide } from './decide.ts';

/** What `svc review approve` and `svc review deny` take. */
export interface VerdictOptions {
  readonly note?: string;
  readonly deny?: readonly string[];
  readonly approve?: readonly string[];
  readonly json?: true;
}

/** Declares arguments and options of one of both. `other` is the option for calls that are decided the other way. */
export function verdictOptions(command: Command, other: 'approve' | 'deny'): Command {
  return command
    .argument('<ids...>', 'Ids of reviews')
    .option('--note <text>', 'Why: kept with the review, and told to the agent')
    .option(
      `--${other} <call>`,
      `${other === 'deny' ? 'Deny' : 'Approve'} this call all the same; repeatable`,
      list,
    )
    .option('--json', 'Print the answers as JSON');
}

/** Decides reviews one after the other, and says what came of each. */
export function giveVerdict(
  cli: Cli,
  ids: readonly string[],
  action: Decision['action'],
  { note, json, ...others }: VerdictOptions,
): Promise<number> {
  const other = action === 'approve' ? 'deny' : 'approve';
  const except = others[other] ?? [];
  checkExceptions(`--${other}`, ids, except);
  const doing = action === 'approve' ? 'Approving' : 'Denying';
  return cli.client().then((client) =>
    forEach(cli, ids, doing, async (id) => {
      const { message = '', ...answer } = await decide(client, id, { action, except, note });
      if (json) showJson(cli, { message, ...answer });
      else cli.terminal.note(`${id}: ${message}`);
    }),
  );
}
