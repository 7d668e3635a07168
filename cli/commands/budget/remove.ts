import { budgets } from '../../../src/api/gateway/budgets.ts';
import { verb } from '../../verb.ts';

/** `svc budget rm`: removes a budget. What was spent stays in the sums. */
export const remove = verb<[subject: string], object>({
  configure: (command) => command.argument('<subject>', 'tenant, or the id of an API key or of a person'),
  examples: ['svc budget rm tenant'],
  async run(cli, [subject]) {
    const client = await cli.client();
    await client.call(budgets.DeleteBudget, { params: { subject } });
    cli.terminal.note(`${subject} has no budget any more.`);
    return undefined;
  },
});
