import { agentDefinitions } from '../../../src/api/agents/definitions.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { readOpencode } from './opencode-file.ts';
import { showAgent, showWarnings } from './shown.ts';

interface Options {
  readonly agent?: string;
  readonly name?: string;
  readonly model?: string;
  readonly dryRun?: true;
  readonly json?: true;
}

/** `svc agent import`: prints the id. */
export const importAgent = verb<[file: string], Options>({
  configure: (command) =>
    command
      .argument('<file>', 'opencode.json, or the .md or .json of one agent; - reads stdin')
      .option('--agent <name>', 'Which agent of opencode.json')
      .option('--name <name>', 'Give it another name')
      .option('--model <model>', 'Give it another model')
      .option('--dry-run', 'Only say what it would be')
      .option('--json', 'Print the whole answer as JSON'),
  about:
    'Prompts that stand in files beside it are read. What svc has not is said on stderr. Ends with 1 when it cannot be taken.',
  examples: [
    'svc agent import .opencode/agents/review.md --dry-run',
    'svc agent import opencode.json --agent build --model openai/gpt-5',
  ],
  async run(cli, [file], { dryRun = false, json, ...wishes }) {
    const opencodeAgentJson = JSON.stringify(await readOpencode(file, wishes));
    const client = await cli.client();
    const answer = await client.call(agentDefinitions.ImportAgentFromOpencode, {
      body: { opencodeAgentJson, dryRun },
    });
    if (json) showJson(cli, answer);
    else {
      showWarnings(cli, answer.warnings);
      if (!answer.valid) cli.terminal.note('It cannot be taken.');
      else if (dryRun) showAgent(cli, answer.agent ?? {}, { yaml: true });
      else cli.terminal.print(answer.agent?.id ?? '');
    }
    return answer.valid ? undefined : EXIT.error;
  },
});
