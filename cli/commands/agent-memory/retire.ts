import { agentMemories } from '../../../src/api/agents/memories.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc agent memory retire`. */
export const retire = verb<[ids: string[]], object>({
  configure: (command) => command.argument('<memories...>', 'Ids of memories'),
  about: 'It is no longer found, and stays in the list with --all.',
  examples: ['svc agent memory retire mem_01jd0000000000000000000000'],
  async run(cli, [ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Retiring', (memoryId) =>
      client.call(agentMemories.DeactivateAgentMemory, { params: { memoryId } }),
    );
  },
});
