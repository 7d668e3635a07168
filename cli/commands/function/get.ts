import { functions } from '../../../src/api/functions/functions.ts';
import { verb } from '../../verb.ts';
import { showFunction } from './shown.ts';

/** `svc function get`. */
export const get = verb<[name: string], { code?: true; json?: true }>({
  configure: (command) =>
    command
      .argument('<name>', 'Name or id of a function')
      .option('--code', 'Print the code of an isolated function alone')
      .option('--json', 'Print JSON'),
  examples: ['svc function get weather', 'svc function get sum --code > sum.mjs'],
  async run(cli, [id], { code, json }) {
    const client = await cli.client();
    const { function: found = {} } = await client.call(functions.GetFunction, { params: { id } });
    if (code) cli.terminal.out.write(found.isolated?.code ?? '');
    else showFunction(cli, found, json);
    return undefined;
  },
});
