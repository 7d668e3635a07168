import { InvalidArgumentError } from 'commander';
import { budgets } from '../../../src/api/gateway/budgets.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { showBudgets } from './shown.ts';

interface Options {
  day?: number;
  month?: number;
  total?: number;
  soft?: true;
  refuseUnpriced?: true;
  json?: true;
}

/** `svc budget set`: says what may be spent, in place of what was said before. */
export const set = verb<[subject: string], Options>({
  configure: (command) =>
    command
      .argument('<subject>', 'tenant, or the id of an API key (svc key list) or of a person')
      .option('--day <usd>', 'US dollars for a day in UTC', dollars)
      .option('--month <usd>', 'US dollars for a month in UTC', dollars)
      .option('--total <usd>', 'US dollars for ever', dollars)
      .option('--soft', 'Count only; refuse nothing')
      .option('--refuse-unpriced', 'Refuse models whose price is not known')
      .option('--json', 'Print JSON'),
  about: 'The whole budget is replaced: a limit that is not named is gone. What was spent before counts.',
  examples: [
    'svc budget set tenant --month 50',
    'svc budget set key_01m7zqm6v0jp3j50cqgbjd8dcq --day 2 --total 20',
  ],
  async run(cli, [subject], { day, month, total, soft, refuseUnpriced, json }) {
    const client = await cli.client();
    const body = {
      dayUsd: day,
      monthUsd: month,
      totalUsd: total,
      hard: !soft,
      refuseUnpriced: refuseUnpriced === true,
    };
    const budget = await client.call(budgets.SetBudget, { params: { subject }, body });
    if (json) showJson(cli, budget);
    else showBudgets(cli, [budget]);
    return undefined;
  },
});

function dollars(text: string): number {
  const value = /^\$?\d+(\.\d+)?$/.test(text) ? Number(text.replace('$', '')) : Number.NaN;
  if (Number.isNaN(value)) throw new InvalidArgumentError('It must be an amount such as 5 or 0.50.');
  return value;
}
