import { functions } from '../../../src/api/functions/functions.ts';
import { verb } from '../../verb.ts';
import { ABOUT_SECRETS, type DefinitionOptions, definitionOptions, readDefinition } from './definition.ts';
import { showFunction } from './shown.ts';

interface Options extends DefinitionOptions {
  readonly rename?: string;
  readonly on?: true;
  readonly off?: true;
  readonly json?: true;
}

/** `svc function update`: what is not named stays. */
export const update = verb<[name: string], Options>({
  configure: (command) =>
    definitionOptions(command.argument('<name>', 'Name or id of a function'))
      .option('--rename <name>', 'Give it another name')
      .option('--on', 'Let it be called')
      .option('--off', 'Let it not be called')
      .option('--json', 'Print JSON'),
  about: `What is not named stays; headers and mappings are replaced as a whole, and masked secrets in them stay what they were. ${ABOUT_SECRETS}`,
  examples: [
    'svc function update sum --code sum.mjs',
    'svc function update order --retries 5 --timeout 10s',
    'svc function update order --off',
  ],
  async run(cli, [id], { rename, on, off, ...options }) {
    const definition = await readDefinition(options);
    const body = {
      ...definition,
      ...(rename === undefined ? {} : { name: rename }),
      ...(on || off ? { enabled: on === true } : {}),
    };
    const client = await cli.client();
    const { function: changed = {} } = await client.call(functions.UpdateFunction, { params: { id }, body });
    showFunction(cli, changed, options.json);
    return undefined;
  },
});
