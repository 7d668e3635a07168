import { functions } from '../../../src/api/functions/functions.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc function status`: whether code can run in isolation. */
export const status = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  about: 'Ends with 1 when isolated functions cannot run. Webhooks and mapped calls need no sandbox.',
  examples: ['svc function status'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const answer = await client.call(functions.GetIsolationStatus);
    if (json) showJson(cli, answer);
    else
      showFields(cli, [
        ['isolation', answer.available ? 'available' : 'not available'],
        ['engine', answer.dockerHost || undefined],
        ['', answer.message],
      ]);
    return answer.available ? undefined : EXIT.error;
  },
});
