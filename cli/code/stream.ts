import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sandboxCode } from '../../src/api/sandbox/code.ts';
import { fail } from '../../src/errors/app-error.ts';
import type { Cli } from '../cli.ts';

/** Code for a context, seen from here. */
export interface RemoteCode {
  readonly sandbox: string;
  readonly code: string;
  /** A context by its id; the default one of the language when absent. */
  readonly contextId?: string;
  readonly language?: string;
  /** Directory for images and other results that a terminal cannot show. */
  readonly saveTo?: string;
  readonly signal?: AbortSignal;
}

interface Message {
  readonly type: string;
  readonly text?: string;
  readonly results?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly ename: string; readonly evalue: string; readonly traceback: readonly string[] };
}

/** File name endings by media type, for results that are files. */
const FILES: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'text/html': 'html',
};

/** Runs code and shows what comes as it comes. Returns 0, the exit code of a shell, or 1 after an error. */
export async function streamCode(cli: Cli, remote: RemoteCode): Promise<number> {
  const client = await cli.client();
  const { sandbox: sandboxId, code, contextId: id, language, signal } = remote;
  const context = id ? { id } : language ? { language } : undefined;
  const events = client.stream(
    sandboxCode.ExecuteCode,
    { params: { sandboxId }, body: { code, context } },
    { signal },
  );
  let shown = 0;
  for await (const { data } of events) {
    const message = JSON.parse(data) as Message;
    if (message.type === 'stdout') await write(cli, 'out', message.text);
    else if (message.type === 'stderr') await write(cli, 'err', message.text);
    else if (message.type === 'status' && cli.terminal.err.isTty)
      cli.terminal.note(`The code is ${message.text}.`);
    else if (message.type === 'result') await showResult(cli, message.results ?? {}, ++shown, remote.saveTo);
    else if (message.type === 'error') return showError(cli, message.error);
    else if (message.type === 'execution_complete') return 0;
  }
  throw fail('unreachable', { url: client.url, why: 'the stream ended before the code did' });
}

async function write(cli: Cli, channel: 'out' | 'err', text = ''): Promise<void> {
  if (!cli.terminal[channel].write(text)) await cli.terminal[channel].drained();
}

async function showResult(
  cli: Cli,
  results: Readonly<Record<string, unknown>>,
  number: number,
  saveTo: string | undefined,
): Promise<void> {
  const plain = results['text/plain'];
  if (typeof plain === 'string') cli.terminal.print(plain);
  const files = Object.entries(results).filter(([type]) => type in FILES);
  if (files.length === 0) return;
  if (saveTo === undefined) {
    const types = files.map(([type]) => type).join(', ');
    if (cli.terminal.err.isTty) cli.terminal.note(`It also answered ${types}; keep it with --save DIR`);
    return;
  }
  await mkdir(saveTo, { recursive: true });
  for (const [type, data] of files) {
    const path = join(saveTo, `result-${number}.${FILES[type]}`);
    const isText = type === 'text/html' || type === 'image/svg+xml';
    await writeFile(path, isText ? String(data) : Buffer.from(String(data), 'base64'));
    cli.terminal.note(`Saved ${path}`);
  }
}

function showError(cli: Cli, error: Message['error']): number {
  const lines = error?.traceback.length ? error.traceback : [`${error?.ename}: ${error?.evalue}`];
  const { style } = cli.terminal.err;
  const isExit = error?.ename === 'CommandExecError' || error?.ename === 'ContextEnded';
  if (error?.ename !== 'CommandExecError') for (const line of lines) cli.terminal.note(style.red(line));
  const code = Number(error?.evalue);
  return isExit && Number.isInteger(code) && code > 0 && code < 256 ? code : 1;
}
