import { mcpServers } from '../../../src/api/mcp/servers.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { withSpinner } from '../../ui/progress.ts';
import { verb } from '../../verb.ts';
import { ABOUT_SECRETS, type DefinitionOptions, definitionOptions, readDefinition } from './definition.ts';
import { showServer } from './shown.ts';

interface Options extends DefinitionOptions {
  readonly rename?: string;
  readonly on?: true;
  readonly off?: true;
  readonly json?: true;
}

/** `svc mcp update`: what is not named stays. */
export const update = verb<[name: string, place: string[]], Options>({
  configure: (command) =>
    definitionOptions(
      command
        .argument('<name>', 'Name or id of a server')
        .argument('[place...]', 'Its new URL, or after -- a program and its arguments'),
    )
      .option('--rename <name>', 'Give it another name; its tools have another one then')
      .option('--on', 'Let its tools be called')
      .option('--off', 'Let its tools not be called')
      .option('--json', 'Print JSON'),
  about: `What is not named stays as it is. ${ABOUT_SECRETS}`,
  examples: ['svc mcp update docs --off', 'svc mcp update docs --include search --include read'],
  async run(cli, [id, place], options) {
    const { rename, on, off, json } = options;
    if (on && off) throw invalid({ field: '--on', description: 'goes alone: one of --on and --off' });
    const body = {
      ...(await readDefinition(place, options)),
      ...(rename === undefined ? {} : { name: rename }),
      ...(on || off ? { enabled: on === true } : {}),
    };
    const client = await cli.client();
    const { server = {} } = await withSpinner(cli.terminal, `Changing ${id}`, () =>
      client.call(mcpServers.UpdateMcpServer, { params: { id }, body }),
    );
    showServer(cli, server, json);
    return undefined;
  },
});
