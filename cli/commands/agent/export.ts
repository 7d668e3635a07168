import { agentDefinitions } from '../../../src/api/agents/definitions.ts';
import { verb } from '../../verb.ts';
import { showWarnings } from './shown.ts';

/** `svc agent export`: an agent for opencode, on stdout. */
export const exportAgent = verb<[name: string], { config?: true }>({
  configure: (command) =>
    command
      .argument('<name>', 'Name, alias or id of an agent')
      .option('--config', 'As an entry of opencode.json'),
  about: 'What opencode has not is said on stderr. For a copy that has everything: svc agent get NAME --yaml',
  examples: ['svc agent export coder', 'svc agent export coder --config > opencode.json'],
  async run(cli, [id], { config }) {
    const client = await cli.client();
    const { opencodeAgentJson = '', warnings } = await client.call(agentDefinitions.ExportAgentToOpencode, {
      params: { id },
    });
    showWarnings(cli, warnings);
    cli.terminal.out.write(config ? asEntry(opencodeAgentJson) : opencodeAgentJson);
    return undefined;
  },
});

function asEntry(text: string): string {
  const { name, ...agent } = JSON.parse(text) as { name: string };
  const document = { $schema: 'https://opencode.ai/config.json', agent: { [name]: agent } };
  return `${JSON.stringify(document, null, 2)}\n`;
}
