import { agentMemories } from '../../../src/api/agents/memories.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc agent memory rm`. */
export const remove = verb<[ids: string[]], object>({
  configure: (command) => command.argument('<memories...>', 'Ids of memories'),
  examples: ['svc agent memory rm mem_01jd0000000000000000000000'],
  async run(cli, [ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Removing', (memoryId) =>
      client.call(agentMemories.DeleteAgentMemory, { params: { memoryId } }),
    );
  },
});
