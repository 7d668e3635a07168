import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { invalid } from '../../../src/errors/app-error.ts';
import { word } from '../../args.ts';
import { streamCode } from '../../code/stream.ts';
import { verb } from '../../verb.ts';

interface Options {
  lang?: string;
  file?: string;
  in?: string;
  save?: string;
}

/** Languages by the ending of a file's name. */
const BY_ENDING: Readonly<Record<string, string>> = {
  '.py': 'python',
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.ts': 'typescript',
  '.sh': 'bash',
  '.bash': 'bash',
};

/** `svc sandbox run`: runs code in a context that keeps its variables. */
export const run = verb<[name: string, code: string | undefined], Options>({
  about:
    'Runs in the default context of the language, which is opened when it is first needed, or in the one of --in. Variables stay for the next run. Ctrl-C interrupts the code.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('[code]', 'The code; read from stdin when absent, or -')
      .option(
        '--lang <language>',
        'python, javascript, typescript or bash; by the name of the file, else python',
        word('python', 'javascript', 'typescript', 'bash'),
      )
      .option('-f, --file <path>', 'Read the code from a file')
      .option('--in <id>', 'Run in this context')
      .option('--save <dir>', 'Write images and HTML that the code answers into a directory'),
  examples: [
    "svc sandbox run box 'x = 6 * 7; x'",
    'svc sandbox run box -f plot.py --save out',
    'echo "console.log(1)" | svc sandbox run box --lang javascript',
  ],
  async run(cli, [name, code], { lang, file, in: context, save }) {
    if (code !== undefined && file !== undefined)
      throw invalid({ field: 'code', description: 'is given twice: as an argument and as --file' });
    const language = lang ?? (context ? undefined : BY_ENDING[extname(file ?? '')]);
    const leaving = new AbortController();
    const leave = () => leaving.abort();
    process.once('SIGINT', leave);
    try {
      return await streamCode(cli, {
        sandbox: name,
        code: await source(code, file),
        contextId: context,
        language,
        saveTo: save,
        signal: leaving.signal,
      });
    } finally {
      process.off('SIGINT', leave);
    }
  },
});

/** The code from where it is. Errors: invalid_argument. */
async function source(code: string | undefined, file: string | undefined): Promise<string> {
  if (file !== undefined)
    return readFile(file, 'utf8').catch((error: Error) => {
      throw invalid({ field: 'file', description: `cannot be read: ${error.message}` });
    });
  if (code !== undefined && code !== '-') return code;
  return Bun.stdin.text();
}
