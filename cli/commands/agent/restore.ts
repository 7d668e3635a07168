import { agentDefinitions } from '../../../src/api/agents/definitions.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { verb } from '../../verb.ts';
import { type ShowOptions, showAgent } from './shown.ts';

/** `svc agent restore`. */
export const restore = verb<[name: string, version: string], ShowOptions>({
  configure: (command) =>
    command
      .argument('<name>', 'Name, alias or id of an agent')
      .argument('<version>', 'Number of the version, of svc agent versions')
      .option('--yaml', 'Print YAML')
      .option('--json', 'Print JSON'),
  about: 'That is a new version, so that it can be taken back. Whether the agent is on stays.',
  examples: ['svc agent restore coder 3'],
  async run(cli, [id, text], how) {
    const version = Number(text);
    if (!Number.isSafeInteger(version) || version < 1)
      throw invalid({ field: 'version', description: 'must be a whole number, 1 or more' });
    const client = await cli.client();
    const { agent } = await client.call(agentDefinitions.RestoreAgentVersion, {
      params: { id, version },
      body: {},
    });
    showAgent(cli, agent, how);
    return undefined;
  },
});
