import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAKE_KEY, type FakeDaemon, startFakeDaemon } from '../testing/fake-daemon.ts';
import { runSvc } from '../testing/run-svc.ts';

let daemon: FakeDaemon;
let dir: string;
beforeAll(() => {
  daemon = startFakeDaemon();
  dir = mkdtempSync(join(tmpdir(), 'svc-cli-code-'));
});
afterAll(() => {
  daemon.stop();
  rmSync(dir, { recursive: true });
});

const svc = (argv: string[], stdin = '') =>
  runSvc(['sandbox', 'run', 'box', ...argv], {
    env: { HOME: dir, SVC_API_URL: daemon.url, SVC_API_KEY: FAKE_KEY },
    stdin,
  });

/** Lets the daemon answer code with these messages; answers what it was asked. */
function answer(...messages: object[]): () => unknown {
  let asked: unknown;
  daemon.on('POST /v1/sandbox/box/code', ({ body }) => {
    asked = body;
    const text = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join('');
    return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  });
  return () => asked;
}

const done = { type: 'execution_complete' };

describe('svc sandbox run', () => {
  test('keeps the channels apart and prints results', async () => {
    const asked = answer(
      { type: 'init', text: 'exe_1' },
      { type: 'stdout', text: 'out\n' },
      { type: 'stderr', text: 'err\n' },
      { type: 'result', results: { 'text/plain': '42' } },
      done,
    );
    expect(await svc(['print(6 * 7)'])).toEqual({ code: 0, stdout: 'out\n42\n', stderr: 'err\n' });
    expect(asked()).toEqual({ code: 'print(6 * 7)' });
  });

  test('takes the code from stdin or a file, whose name tells the language', async () => {
    const asked = answer(done);
    await svc([], 'x = 1');
    expect(asked()).toEqual({ code: 'x = 1' });
    writeFileSync(join(dir, 'a.ts'), 'let a: number');
    await svc(['-f', join(dir, 'a.ts')]);
    expect(asked()).toEqual({ code: 'let a: number', context: { language: 'typescript' } });
    await svc(['--in', 'ctx_1', 'y']);
    expect(asked()).toEqual({ code: 'y', context: { id: 'ctx_1' } });
    expect((await svc(['-f', join(dir, 'none.py')])).code).toBe(2);
    expect((await svc(['-f', join(dir, 'a.ts'), 'x'])).code).toBe(2);
  });

  test.each([
    [
      'an error of the language',
      { ename: 'ValueError', evalue: 'no', traceback: ['line', 'ValueError: no'] },
      1,
      'ValueError: no',
    ],
    [
      'the exit code of a shell',
      { ename: 'CommandExecError', evalue: '3', traceback: ['exit status 3'] },
      3,
      '',
    ],
    [
      'the end of the context',
      { ename: 'ContextEnded', evalue: '9', traceback: ['it has ended'] },
      9,
      'it has ended',
    ],
  ])('ends with %s', async (_, error, code, said) => {
    answer({ type: 'error', error });
    const ran = await svc(['x']);
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(said);
  });

  test('writes what a terminal cannot show into files', async () => {
    const results = { 'text/plain': '<Figure>', 'image/png': 'iVBORw==', 'text/html': '<b>x</b>' };
    answer({ type: 'result', results }, done);
    const saveTo = join(dir, 'out');
    expect((await svc(['plot()', '--save', saveTo])).stdout).toBe('<Figure>\n');
    expect([...readFileSync(join(saveTo, 'result-1.png'))]).toEqual([0x89, 0x50, 0x4e, 0x47]);
    expect(readFileSync(join(saveTo, 'result-1.html'), 'utf8')).toBe('<b>x</b>');
  });

  test('an answer that breaks off is no success', async () => {
    answer({ type: 'stdout', text: 'half' });
    expect((await svc(['x'])).code).toBe(3);
  });
});
