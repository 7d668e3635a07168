import { budgets as operations } from '../../../src/api/gateway/budgets.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { showBudgets } from './shown.ts';

/** `svc budget list`: what may be spent, and what is. */
export const list = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  examples: ['svc budget list', 'svc budget list --json'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const { budgets = [] } = await client.call(operations.ListBudgets);
    if (json) showJson(cli, budgets);
    else showBudgets(cli, budgets);
    return undefined;
  },
});
