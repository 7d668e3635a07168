import { cache } from '../../../src/api/gateway/cache.ts';
import { verb } from '../../verb.ts';

/** `svc cache clear`: forgets every kept answer. */
export const clear = verb<[], object>({
  about: 'Forgets the answers that are kept for your organization. What is asked next, models answer anew.',
  examples: ['svc cache clear'],
  async run(cli) {
    const client = await cli.client();
    const { cleared = 0 } = await client.call(cache.ClearCache);
    cli.terminal.note(`Forgot ${cleared} ${cleared === 1 ? 'answer' : 'answers'}.`);
    return undefined;
  },
});
