import { InvalidArgumentError } from 'commander';
import { invalid } from '../../../src/errors/app-error.ts';
import { integer, list } from '../../args.ts';
import { readStdin } from '../../ui/prompt.ts';
import { verb } from '../../verb.ts';
import { readImage } from './image.ts';

interface Options {
  system?: string;
  temperature?: number;
  maxTokens?: number;
  image?: string[];
  json?: true;
}

const STDIN = '-';
const HOTTEST = 2;

/** `svc chat`: one question, or a conversation. */
export const chat = verb<[model: string, words: string[]], Options>({
  about:
    'With words, or with something in a pipe, asks once; the word - stands for what is in the pipe. On a terminal it is a conversation. Ctrl-C stops an answer, a second one leaves. What the model thinks is shown dimmed on a terminal, and is no part of the answer.',
  configure: (command) =>
    command
      .argument('<model>', 'Name of a model, or of a route')
      .argument('[words...]', 'The question')
      .option('--system <text>', 'What the model is told before everything else')
      .option('--temperature <number>', 'How freely it picks its words: 0 to 2', temperature)
      .option('--max-tokens <count>', 'Most tokens of an answer', integer(1))
      .option('--image <file>', 'Send a picture along: a file or an https address; may be repeated', list)
      .option('--json', 'Print the answer, its usage, cost and times as JSON'),
  examples: [
    'svc chat openai/gpt-4o "Why is the sky blue?"',
    'git diff | svc chat anthropic/claude-sonnet-4-5 "Review this:" -',
    'svc chat google/gemini-2.5-flash "What is this?" --image photo.jpg',
    'svc chat local/echo',
  ],
  async run(cli, [model, words], { json, image = [], maxTokens, ...more }) {
    const images = await Promise.all(image.map(readImage));
    const beginning = { ...more, model, maxTokens, images };
    if (words.length > 0 || !process.stdin.isTTY) {
      const { askOnce } = await import('./one-shot.ts');
      await askOnce(cli, beginning, await questionText(words, images.length > 0), json === true);
      return undefined;
    }
    if (json)
      throw invalid({ field: 'json', description: 'is for one question: svc chat MODEL "..." --json' });
    const { ChatSession } = await import('./session.ts');
    return new ChatSession(cli, beginning).run();
  },
});

/** The words, with what is in the pipe where they say so. Errors: invalid_argument when there is no question. */
async function questionText(words: readonly string[], hasImages: boolean): Promise<string> {
  const isPiped = words.length === 0 || words.includes(STDIN);
  const piped = isPiped ? await readStdin() : '';
  const text = words.length === 0 ? piped : join(words, piped);
  if (text.trim() !== '' || hasImages) return text;
  throw invalid({ field: 'words', description: 'are missing: there is no question' });
}

function join(words: readonly string[], piped: string): string {
  const at = words.indexOf(STDIN);
  if (at < 0) return words.join(' ');
  return [words.slice(0, at).join(' '), piped, words.slice(at + 1).join(' ')]
    .filter((part) => part !== '')
    .join('\n\n');
}

function temperature(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= HOTTEST) return value;
  throw new InvalidArgumentError('It must be a number from 0 to 2.');
}
