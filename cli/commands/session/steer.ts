import { agentSessions } from '../../../src/api/agents/sessions.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { readStdin } from '../../ui/prompt.ts';
import { verb } from '../../verb.ts';

/** `svc session steer`: says something to a turn that is under way. */
export const steer = verb<[id: string, words: string[]], { system?: true }>({
  configure: (command) =>
    command
      .argument('<id>', 'Id of a session')
      .argument('[words...]', 'What is said; from stdin when absent')
      .option('--system', 'As an instruction, not as words of the user'),
  about:
    'It joins the conversation before the model is asked the next time. When the agent has asked a question, it is the answer. Without a turn under way it is refused (6).',
  examples: [
    'svc session steer ses_01jd... "skip the slow tests"',
    'svc session steer ses_01jd... --system "Answer in German from now on."',
  ],
  async run(cli, [sessionId, words], { system }) {
    const content = words.length > 0 ? words.join(' ') : await pipedText();
    const client = await cli.client();
    const body = { role: system ? 'system' : 'user', content } as const;
    const { message = '' } = await client.call(agentSessions.SteerSession, { params: { sessionId }, body });
    cli.terminal.note(message);
    return undefined;
  },
});

async function pipedText(): Promise<string> {
  const text = process.stdin.isTTY ? '' : await readStdin();
  if (text.trim() === '')
    throw invalid({ field: 'words', description: 'are missing: there is nothing to say' });
  return text;
}
