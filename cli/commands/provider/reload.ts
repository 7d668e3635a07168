import { providerConfig } from '../../../src/api/providers/config.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc provider reload`: has providers.yaml read. */
export const reload = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  about:
    'Puts <data dir>/providers.yaml into force as it is now. Keys that stand in it in the open are sealed, and masked in the file.',
  examples: ['svc provider reload'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const answer = await client.call(providerConfig.ReloadConfig);
    if (json) showJson(cli, answer);
    else cli.terminal.note(answer.message ?? '');
    return undefined;
  },
});
