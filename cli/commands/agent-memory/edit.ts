import { agentMemories } from '../../../src/api/agents/memories.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { share } from '../../args.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

interface Options {
  content?: string;
  key?: string;
  confidence?: number;
  json?: true;
}

/** `svc agent memory edit`. */
export const edit = verb<[id: string], Options>({
  configure: (command) =>
    command
      .argument('<memory>', 'Id of the memory')
      .option('--content <text>', 'What it says')
      .option('--key <key>', 'What it is about; empty for nothing')
      .option('--confidence <share>', 'How sure it is, 0 to 1', share)
      .option('--json', 'Print JSON'),
  examples: ['svc agent memory edit mem_01jd0000000000000000000000 --content "Deploys are on Fridays"'],
  async run(cli, [memoryId], { content, key: factKey, confidence, json }) {
    if (content === undefined && factKey === undefined && confidence === undefined)
      throw invalid({ field: 'options', description: 'give --content, --key or --confidence' });
    const client = await cli.client();
    const { memory = {} } = await withSpinner(cli.terminal, `Changing ${memoryId}`, () =>
      client.call(agentMemories.UpdateAgentMemory, {
        params: { memoryId },
        body: { content, factKey, confidence },
      }),
    );
    if (json) showJson(cli, memory);
    else if (cli.terminal.err.isTty) cli.terminal.note(`Changed: ${memory.content ?? ''}`);
    return undefined;
  },
});
