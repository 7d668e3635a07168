import { agentMemories, MEMORY_SCOPES, MEMORY_TYPES } from '../../../src/api/agents/memories.ts';
import { share, word } from '../../args.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

interface Options {
  key?: string;
  type: (typeof MEMORY_TYPES)[number];
  scope: (typeof MEMORY_SCOPES)[number];
  confidence?: number;
  json?: true;
}

/** `svc agent memory add`: prints the id of the memory. */
export const add = verb<[agent: string, words: string[]], Options>({
  configure: (command) =>
    command
      .argument('<agent>', 'Id or name of the agent')
      .argument('<words...>', 'What to remember; - is standard input')
      .option('--key <key>', 'What it is about: it takes the place of what has the same key')
      .option('--type <type>', MEMORY_TYPES.join(', '), word(...MEMORY_TYPES), MEMORY_TYPES[0])
      .option(
        '--scope <scope>',
        'agent, user (all agents, for you) or global',
        word(...MEMORY_SCOPES),
        MEMORY_SCOPES[0],
      )
      .option('--confidence <share>', 'How sure it is, 0 to 1', share)
      .option('--json', 'Print JSON'),
  about: 'What is there already in the same words is not kept twice: it becomes surer.',
  examples: [
    'svc agent memory add helper "Deploys are on Tuesdays" --key team.deploy_day',
    'svc agent memory add helper "Answer in German" --type instruction --scope user',
  ],
  async run(cli, [agentId, words], { key: factKey, type: memoryType, scope, confidence, json }) {
    const content = words.length === 1 && words[0] === '-' ? await Bun.stdin.text() : words.join(' ');
    const client = await cli.client();
    const { memory = {} } = await withSpinner(cli.terminal, 'Remembering', () =>
      client.call(agentMemories.CreateAgentMemory, {
        params: { agentId },
        body: { content, factKey, memoryType, scope, confidence },
      }),
    );
    if (json) showJson(cli, memory);
    else cli.terminal.print(memory.id ?? '');
    return undefined;
  },
});
