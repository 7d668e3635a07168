import { responses } from '../../../src/api/gateway/responses.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc response cancel`. */
export const cancel = verb<[ids: string[]], object>({
  configure: (command) => command.argument('<ids...>', 'Ids of responses that are made in the background'),
  examples: ['svc response cancel resp_01jd...'],
  about: 'What was said so far is kept. One that is over stays as it is.',
  async run(cli, [ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Cancelling', (id) =>
      client.call(responses.CancelResponse, { params: { responseId: id } }),
    );
  },
});
