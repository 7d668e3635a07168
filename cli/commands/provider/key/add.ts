import { providerKeys } from '../../../../src/api/providers/keys.ts';
import { integer } from '../../../args.ts';
import { showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';
import { readKey } from '../secret.ts';

interface Options {
  keyStdin?: true;
  name?: string;
  weight?: number;
  json?: true;
}

/** `svc provider key add`: prints the id of the key. */
export const add = verb<[provider: string], Options>({
  configure: (command) =>
    command
      .argument('<provider>', 'Name of a provider')
      .option('--key-stdin', 'Read the key from stdin')
      .option('--name <name>', 'What the key is called')
      .option('--weight <n>', 'Its share of the calls, beside the weights of the other keys', integer(1))
      .option('--json', 'Print JSON'),
  about: 'Calls are spread over the keys of a provider by weight. The key is asked for, or read from stdin.',
  examples: [
    'svc provider key add openai --name team-b --weight 3',
    'svc provider key add openai --key-stdin < key.txt',
  ],
  async run(cli, [providerConfigId], { keyStdin, name: keyName, weight, json }) {
    const client = await cli.client();
    const apiKey = await readKey(cli, keyStdin === true);
    const { key = {} } = await client.call(providerKeys.AddProviderAPIKey, {
      body: { providerConfigId, keyName, apiKey, weight },
    });
    if (json) showJson(cli, key);
    else cli.terminal.print(key.id ?? '');
    return undefined;
  },
});
