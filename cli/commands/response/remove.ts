import { responses } from '../../../src/api/gateway/responses.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc response rm`. */
export const remove = verb<[ids: string[]], object>({
  configure: (command) => command.argument('<ids...>', 'Ids of responses'),
  examples: ['svc response rm resp_01jd...'],
  about: 'One that is made in the background is ended first. Others cannot go on from it any more.',
  async run(cli, [ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Removing', (id) =>
      client.call(responses.DeleteResponse, { params: { responseId: id } }),
    );
  },
});
