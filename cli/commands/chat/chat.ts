import { InvalidArgumentError } from 'commander';
import { invalid } from '../../../src/errors/app-error.ts';
import { integer, list } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { verb } from '../../verb.ts';
import { findAgent } from '../session/begin.ts';
import { readImage } from './image.ts';
import { questionText } from './question-text.ts';

interface Options {
  session?: string;
  system?: string;
  temperature?: number;
  maxTokens?: number;
  image?: string[];
  json?: true;
}

const HOTTEST = 2;

/** `svc chat`: one question, or a conversation, with a model or an agent. */
export const chat = verb<[name: string, words: string[]], Options>({
  about:
    'With words, or with something in a pipe, asks once; the word - stands for what is in the pipe. On a terminal it is a conversation. Ctrl-C stops an answer, a second one leaves. What a model thinks is shown dimmed on a terminal, and is no part of the answer.\n\nWith the name of an agent it is a session of that agent: what it does is shown, and what it asks is asked here. What you type while it works joins its turn. Its turn goes on when you leave; --session comes back to it.',
  configure: (command) =>
    command
      .argument('<name>', 'Name of an agent, a model or a route')
      .argument('[words...]', 'The question')
      .option('--session <id>', 'Go on with this session of the agent')
      .option('--system <text>', 'What the model is told before everything else')
      .option('--temperature <number>', 'How freely the model picks its words: 0 to 2', temperature)
      .option('--max-tokens <count>', 'Most tokens of an answer', integer(1))
      .option(
        '--image <file>',
        'Send the model a picture along: a file or an https address; may be repeated',
        list,
      )
      .option(
        '--json',
        'Print the answer, its usage, cost and times as JSON; of an agent what happens, as NDJSON',
      ),
  examples: [
    'svc chat openai/gpt-4o "Why is the sky blue?"',
    'git diff | svc chat anthropic/claude-sonnet-4-5 "Review this:" -',
    'svc chat google/gemini-2.5-flash "What is this?" --image photo.jpg',
    'svc chat local/echo',
    'svc chat reviewer',
    'svc chat reviewer --session ses_01jd...',
  ],
  async run(cli, [name, words], options) {
    const agent = await findAgent(await cli.client(), name);
    return agent ? chatWithAgent(cli, name, words, options) : chatWithModel(cli, name, words, options);
  },
});

async function chatWithAgent(cli: Cli, agent: string, words: readonly string[], options: Options) {
  const { session, json, ...others } = options;
  const [wrong] = Object.keys(others);
  if (wrong !== undefined)
    throw invalid({ field: `--${dashed(wrong)}`, description: `is for models; ${agent} is an agent` });
  const { runAgent, talkToAgent } = await import('../session/run-agent.ts');
  const isOnce = words.length > 0 || !process.stdin.isTTY || json === true;
  return isOnce ? runAgent(cli, agent, words, { session, json }) : talkToAgent(cli, agent, session);
}

async function chatWithModel(cli: Cli, model: string, words: readonly string[], options: Options) {
  const { json, image = [], maxTokens, session, ...more } = options;
  if (session !== undefined)
    throw invalid({ field: '--session', description: `is for agents; there is no agent ${model}` });
  const images = await Promise.all(image.map(readImage));
  const beginning = { ...more, model, maxTokens, images };
  if (words.length > 0 || !process.stdin.isTTY) {
    const text = await questionText(words);
    if (text.trim() === '' && images.length === 0)
      throw invalid({ field: 'words', description: 'are missing: there is no question' });
    const { askOnce } = await import('./one-shot.ts');
    await askOnce(cli, beginning, text, json === true);
    return undefined;
  }
  if (json) throw invalid({ field: 'json', description: 'is for one question: svc chat MODEL "..." --json' });
  const { ChatSession } = await import('./session.ts');
  return new ChatSession(cli, beginning).run();
}

const dashed = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function temperature(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= HOTTEST) return value;
  throw new InvalidArgumentError('It must be a number from 0 to 2.');
}
