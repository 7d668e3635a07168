import { verb } from '../../verb.ts';
import { type RunOptions, runAgent } from './run-agent.ts';

/** `svc session run`: one turn of an agent. */
export const run = verb<[agent: string, words: string[]], RunOptions>({
  configure: (command) =>
    command
      .argument('<agent>', 'Name or id of an agent')
      .argument('[words...]', 'What it is told; from stdin when absent, or where the word - stands')
      .option('--session <id>', 'Go on with this session in place of a new one')
      .option('--queue', 'Wait for the turn that is under way, in place of being refused')
      .option('--detach', 'Print the id of the session and leave; the turn goes on')
      .option('--wait', 'Wait until somebody has decided or answered, in place of ending with 6')
      .option('--json', 'Print what happens as NDJSON'),
  about:
    'On a terminal everything is shown as it happens, and you are asked what the agent asks. In a pipe stdout is the answer alone. Ends with 0 when the turn is completed, 1 when it failed, 6 when it waits for an approval or an answer and there is no terminal to ask at. The turn goes on whatever becomes of this command.',
  examples: [
    'svc session run helper "Which tests fail, and why?"',
    'git diff | svc session run reviewer "Review this:" -',
    'svc session run helper --session ses_01jd... "And now fix them."',
    'svc session run nightly --detach "Update the dependencies."',
    `svc session run helper --json "Hello" | jq -rj 'select(.type == "llm.chunk").textDelta'`,
  ],
  run: (cli, [agent, words], options) => runAgent(cli, agent, words, options),
});
