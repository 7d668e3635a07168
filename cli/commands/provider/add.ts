import { providerCatalog } from '../../../src/api/providers/catalog.ts';
import type { Client } from '../../../src/client/client.ts';
import { RemoteError } from '../../../src/client/remote-error.ts';
import { list, pairs } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { verb } from '../../verb.ts';
import { canAsk, readKey } from './secret.ts';
import { type Status, showStatus } from './show-status.ts';

interface Options {
  keyStdin?: true;
  baseUrl?: string;
  model?: readonly string[];
  allModels?: true;
  setting?: Record<string, string>;
  json?: true;
}

/** `svc provider add`: sets a provider up, or changes how it is. */
export const add = verb<[name: string], Options>({
  about:
    'A name of the catalog needs no address (see: svc provider catalog). Any other name is a compatible server at --base-url; --setting dialect=... says what it speaks when that is not the chat-completions dialect. The key is asked for, or read from stdin; what is not named stays as it is.',
  configure: (command) =>
    command
      .argument('<name>', 'Name of the provider: the first part of its models’ names')
      .option('--key-stdin', 'Read the key from stdin')
      .option('--base-url <url>', 'Address of the provider, when it is not the usual one')
      .option('--model <model>', 'Only this model may be called; repeatable', list)
      .option('--all-models', 'Any model may be called')
      .option('--setting <K=V>', 'Setting of the provider, an empty value removes it; repeatable', pairs)
      .option('--json', 'Print JSON'),
  examples: [
    'svc provider add openai',
    'svc provider add anthropic --key-stdin < key.txt',
    'svc provider add azure --base-url https://me.openai.azure.com',
    'svc provider add bedrock --setting region=eu-west-1',
    'svc provider add lab --base-url http://10.0.0.5:8000/v1 --model llama-3.3-70b',
  ],
  async run(cli, [name], options) {
    const client = await cli.client();
    const known = await find(client, name);
    const apiKey = await keyFor(cli, known, options);
    const { provider = {} } = await client.call(providerCatalog.ConfigureProvider, {
      params: { providerName: name },
      body: {
        ...(apiKey === undefined ? {} : { apiKey }),
        ...(options.allModels
          ? { enabledModels: [] }
          : options.model
            ? { enabledModels: [...options.model] }
            : {}),
        ...(options.baseUrl === undefined ? {} : { customBaseUrl: options.baseUrl }),
        ...(options.setting ? { customSettings: merged(known, options.setting) } : {}),
      },
    });
    showStatus(cli, provider, options.json);
    if (cli.terminal.err.isTty) cli.terminal.note(`Try it: svc provider test ${name}`);
    return undefined;
  },
});

/** A provider that is known; undefined for a name that is new. */
async function find(client: Client, providerName: string): Promise<Status | undefined> {
  try {
    return (await client.call(providerCatalog.GetProvider, { params: { providerName } })).provider;
  } catch (error) {
    if (error instanceof RemoteError && error.code === 'provider_not_found') return undefined;
    throw error;
  }
}

/** Asks a person for a key only where one is needed and none is there. */
async function keyFor(
  cli: Cli,
  known: Status | undefined,
  { keyStdin, baseUrl }: Options,
): Promise<string | undefined> {
  if (keyStdin) return readKey(cli, true);
  const isNeeded =
    known?.catalog?.requiresKey === true && !known.configuration?.apiKey && baseUrl === undefined;
  return isNeeded && canAsk() ? readKey(cli, false) : undefined;
}

function merged(known: Status | undefined, given: Readonly<Record<string, string>>): Record<string, string> {
  const all = { ...known?.configuration?.customSettings, ...given };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}
