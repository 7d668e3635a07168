import { functions } from '../../../src/api/functions/functions.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { ABOUT_SECRETS, type DefinitionOptions, definitionOptions, readDefinition } from './definition.ts';

/** `svc function create`: prints the id. */
export const create = verb<[name: string], DefinitionOptions & { json?: true }>({
  configure: (command) =>
    definitionOptions(command.argument('<name>', 'Name under which agents call it')).option(
      '--json',
      'Print JSON',
    ),
  about: `An endpoint of yours (--url), a mapped call of another API (--base-url), or code that runs in a sandbox (--code). EXPR is $.a.b of the arguments, text with {a.b} in it, or plain text. ${ABOUT_SECRETS}`,
  examples: [
    'svc function create sum --code sum.mjs',
    'svc function create resize --code resize.py --memory-mb 512 --timeout 1m',
    'svc function create order --url https://shop.example.com/hooks/order --retries 3',
    "svc function create weather --base-url https://api.example.com --path '/v1/{city}' --result 'degrees=$.now.temp'",
    'svc function create charge --from charge.json',
  ],
  async run(cli, [name], options) {
    const body = { ...(await readDefinition(options)), name };
    const client = await cli.client();
    const { function: made = {} } = await client.call(functions.CreateFunction, { body });
    if (options.json) showJson(cli, made);
    else cli.terminal.print(made.id ?? '');
    if (cli.terminal.err.isTty) cli.terminal.note(`Call it: svc function invoke ${name} '{}'`);
    return undefined;
  },
});
