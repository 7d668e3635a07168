import { agentDefinitions } from '../../../src/api/agents/definitions.ts';
import { integer } from '../../args.ts';
import { verb } from '../../verb.ts';
import { type ShowOptions, showAgent } from './shown.ts';

/** `svc agent get`. */
export const get = verb<[name: string], ShowOptions & { at?: number }>({
  configure: (command) =>
    command
      .argument('<name>', 'Name, alias or id of an agent')
      .option('--at <version>', 'As it was at a version', integer(1))
      .option('--yaml', 'Print YAML, which create and edit take')
      .option('--json', 'Print JSON'),
  examples: [
    'svc agent get coder',
    'svc agent get coder --yaml > coder.yaml',
    'svc agent get coder --at 3 --json | jq -r .systemPrompt',
  ],
  async run(cli, [id], { at, ...how }) {
    const client = await cli.client();
    const { agent = {} } =
      at === undefined
        ? await client.call(agentDefinitions.GetAgent, { params: { id } })
        : await client.call(agentDefinitions.GetAgentVersion, { params: { id, version: at } });
    showAgent(cli, agent, how);
    return undefined;
  },
});
