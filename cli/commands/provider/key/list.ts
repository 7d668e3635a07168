import { providerKeys } from '../../../../src/api/providers/keys.ts';
import { showJson, showList } from '../../../ui/show.ts';
import { relativeTime } from '../../../ui/time.ts';
import { verb } from '../../../verb.ts';

/** `svc provider key list`. */
export const list = verb<[provider: string], { json?: true }>({
  configure: (command) => command.argument('<provider>', 'Name of a provider').option('--json', 'Print JSON'),
  examples: ['svc provider key list openai'],
  async run(cli, [providerConfigId], { json }) {
    const client = await cli.client();
    const { keys = [] } = await client.call(providerKeys.ListProviderAPIKeys, {
      params: { providerConfigId },
    });
    if (json) {
      showJson(cli, keys);
      return undefined;
    }
    showList(cli, {
      rows: keys,
      none: `There are no keys. Add one: svc provider key add ${providerConfigId}`,
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'NAME', text: ({ keyName }) => keyName },
        { title: 'KEY', text: ({ keyMasked }) => keyMasked },
        { title: 'WEIGHT', text: ({ weight }) => String(weight ?? 1), align: 'right' },
        { title: 'STATE', text: ({ isActive }) => (isActive ? 'on' : 'off') },
        { title: 'FROM', text: ({ source }) => (source === 'config' ? 'configuration' : 'set up here') },
        {
          title: 'CREATED',
          text: ({ createdAt }) => relativeTime(createdAt),
          raw: ({ createdAt }) => createdAt,
        },
      ],
    });
    return undefined;
  },
});
