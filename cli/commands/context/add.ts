import { baseUrl } from '../../../src/client/address.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { readStdin } from '../../ui/prompt.ts';
import { verb } from '../../verb.ts';

/** `svc context add`: remembers a daemon. */
export const add = verb<[name: string, url: string], { use?: true }>({
  about: 'A key given with --api-key or SVC_API_KEY is kept with it; --api-key - reads it from stdin.',
  configure: (command) =>
    command
      .argument('<name>', 'Name of the context')
      .argument('<url>', 'Address of the daemon')
      .option('--use', 'Make it the active one'),
  examples: [
    'svc context add work https://svc.example.com --use',
    'svc context add work https://svc.example.com --api-key - < key.txt',
  ],
  async run(cli, [name, url], { use }) {
    if (cli.contexts.find(name))
      throw invalid({ field: 'name', description: `${name} is there already; remove it first` });
    cli.contexts.save({ name, apiUrl: baseUrl(url) });
    const given = cli.flags.apiKey === '-' ? await readStdin() : (cli.flags.apiKey ?? cli.env.SVC_API_KEY);
    if (given) cli.contexts.remember(name, { apiKey: given });
    if (use) cli.contexts.use(name);
    cli.terminal.note(`Added ${name}.${given ? '' : ` Sign in: svc login --context ${name}`}`);
    return undefined;
  },
});
