import { apiKeys } from '../../../src/api/api-keys/keys.ts';
import { word } from '../../args.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

const TYPE = { user: 'API_KEY_TYPE_USER', org: 'API_KEY_TYPE_ORG' } as const;

/** `svc key create`: prints the new key, the only time that it is shown. */
export const create = verb<[name: string], { type?: keyof typeof TYPE; json?: true }>({
  configure: (command) =>
    command
      .argument('<name>', 'What the key is for')
      .option('--type <type>', 'user, or org for a key of the whole team', word('user', 'org'))
      .option('--json', 'Print JSON'),
  examples: ['svc key create ci', 'export SVC_API_KEY=$(svc key create laptop)'],
  async run(cli, [name], { type, json }) {
    const client = await cli.client();
    const body = { name, type: type && TYPE[type] };
    const { apiKey = {} } = await client.call(apiKeys.CreateApiKey, { body });
    if (json) showJson(cli, apiKey);
    else cli.terminal.print(apiKey.sensitiveId ?? '');
    cli.terminal.note(`This is the only time that the key is shown. Revoke it: svc key revoke ${apiKey.id}`);
    return undefined;
  },
});
