import { createInterface, type Interface } from 'node:readline';
import { sandboxCode } from '../../../src/api/sandbox/code.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { word } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { isWhole } from '../../code/complete.ts';
import { streamCode } from '../../code/stream.ts';
import { verb } from '../../verb.ts';

interface Options {
  lang: string;
  save?: string;
}

/** `svc sandbox repl`: code line by line, in a context of its own that is closed at the end. */
export const repl = verb<[name: string], Options>({
  about: 'Ctrl-C interrupts what runs, or drops what was typed. Ctrl-D leaves, and the variables are gone.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .option(
        '--lang <language>',
        'python, javascript, typescript or bash',
        word('python', 'javascript', 'typescript', 'bash'),
        'python',
      )
      .option('--save <dir>', 'Write images and HTML that the code answers into a directory'),
  examples: ['svc sandbox repl box', 'svc sandbox repl box --lang javascript'],
  async run(cli, [name], { lang, save }) {
    if (!process.stdin.isTTY)
      throw invalid({ field: 'stdin', description: 'is not a terminal; run code with: svc sandbox run' });
    const client = await cli.client();
    const params = { sandboxId: name };
    const { id } = await client.call(sandboxCode.CreateCodeContext, { params, body: { language: lang } });
    const reader = createInterface({ input: process.stdin, output: process.stderr, historySize: 500 });
    try {
      await converse(cli, reader, { sandbox: name, contextId: id, language: lang, saveTo: save });
      return undefined;
    } finally {
      reader.close();
      await client
        .call(sandboxCode.DeleteCodeContext, { params: { ...params, contextId: id } })
        .catch(() => undefined);
    }
  },
});

interface Place {
  readonly sandbox: string;
  readonly contextId: string;
  readonly language: string;
  readonly saveTo?: string;
}

/** Reads and runs until the end of input, or until the context has ended. */
async function converse(cli: Cli, reader: Interface, place: Place): Promise<void> {
  const client = await cli.client();
  const interrupt = () =>
    client
      .call(sandboxCode.InterruptCode, {
        params: { sandboxId: place.sandbox },
        query: { id: place.contextId },
      })
      .catch(() => undefined);
  let typed = '';
  let isRunning = false;
  const prompt = () => {
    reader.setPrompt(typed === '' ? '> ' : '. ');
    reader.prompt();
  };
  reader.on('SIGINT', () => {
    if (isRunning) void interrupt();
    else {
      typed = '';
      reader.write(null, { ctrl: true, name: 'u' });
      process.stderr.write('\n');
      prompt();
    }
  });
  prompt();
  for await (const line of reader) {
    const code = typed === '' ? line : `${typed}\n${line}`;
    const isReady = isWhole(code, place.language);
    typed = isReady ? '' : code;
    if (isReady && code.trim() !== '') {
      isRunning = true;
      await streamCode(cli, { ...place, code });
      await cli.terminal.out.flush();
      isRunning = false;
      const left = await client
        .call(sandboxCode.ListCodeContexts, { params: { sandboxId: place.sandbox } })
        .then((contexts) => contexts.some(({ id }) => id === place.contextId));
      if (!left) return;
    }
    prompt();
  }
}
