import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sandboxCode } from '../src/api/sandbox/code.ts';
import { sandboxCommand } from '../src/api/sandbox/command.ts';
import { sandboxHistory } from '../src/api/sandbox/history.ts';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import type { Client } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, until } from './support/scene.ts';

interface Event {
  readonly type: string;
  readonly text?: string;
  readonly execution_count?: number;
  readonly results?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly ename: string; readonly evalue: string; readonly traceback: readonly string[] };
}

interface Ran {
  readonly id: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly results: ReadonlyArray<Readonly<Record<string, unknown>>>;
  readonly error?: Event['error'];
  readonly events: readonly Event[];
}

/** Where code can be run: the driver, and the interpreters that its image has. */
const places = driverCases.map((one) => ({
  ...one,
  image: one.name === 'docker' ? 'svc-test/debian:1' : undefined,
  hasPython: one.name === 'namespace' && Bun.which('python3', { PATH: '/usr/bin:/bin' }) !== null,
  hasNode: one.name === 'namespace' && Bun.which('node', { PATH: '/usr/bin:/bin' }) !== null,
}));

const refusal = async (attempt: Promise<unknown>) => {
  const error = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  return error as { http: number; code: string; message: string };
};

describe.each(places)('code on the $name driver', ({ name, env, image, hasPython, hasNode }) => {
  let daemon: TestDaemon;
  let client: Client;
  let sandboxId: string;
  beforeAll(async () => {
    daemon = await startDaemon({ env: { ...env, SVC_SANDBOX_CODE_CONTEXTS: '8' } });
    client = clientOf(daemon);
    sandboxId = await newSandbox(client, { name: 'code', image, memoryMb: '512' });
  });
  afterAll(async () => {
    for (const { id = '' } of (await client.call(sandboxLifecycle.ListSandboxInstances, {})).instances ?? [])
      await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
    await daemon.stop();
  });

  const stream = (code: string, context?: { id?: string; language?: string }, signal?: AbortSignal) =>
    client.stream(sandboxCode.ExecuteCode, { params: { sandboxId }, body: { code, context } }, { signal });

  const run = async (code: string, context?: { id?: string; language?: string }): Promise<Ran> => {
    const events: Event[] = [];
    for await (const { data } of stream(code, context)) events.push(JSON.parse(data));
    const text = (type: string) =>
      events
        .filter((one) => one.type === type)
        .map((one) => one.text ?? '')
        .join('');
    return {
      id: text('init'),
      stdout: text('stdout'),
      stderr: text('stderr'),
      results: events.flatMap(({ type, results }) => (type === 'result' && results ? [results] : [])),
      error: events.at(-1)?.error,
      events,
    };
  };
  const open = (language: string) =>
    client.call(sandboxCode.CreateCodeContext, { params: { sandboxId }, body: { language } });
  const close = (contextId: string) =>
    client.call(sandboxCode.DeleteCodeContext, { params: { sandboxId, contextId } });

  describe('bash', () => {
    const bash = { language: 'bash' };

    test('keeps variables, functions and the directory', async () => {
      await run('x=5; greet() { echo "hé $1"; }; cd /tmp', bash);
      const { stdout, events } = await run('greet $x; pwd', bash);
      expect(stdout).toBe('hé 5\n/tmp\n');
      expect(events.map(({ type }) => type)).toEqual([
        'init',
        'execution_count',
        ...events.slice(2, -1).map(() => 'stdout'),
        'execution_complete',
      ]);
    });

    test('ends with the exit code of what failed, and goes on after it', async () => {
      const { error, stderr } = await run('y=1; no-such-program', bash);
      expect(error?.evalue).toBe('127');
      expect(stderr).toContain('no-such-program');
      expect((await run('(exit 7)', bash)).error?.evalue).toBe('7');
      expect((await run('if', bash)).error?.evalue).toBe('2');
      expect((await run('exec >/dev/null; echo $y', bash)).stdout).toBe('');
      expect((await run('echo back $y', bash)).stdout).toBe('back 1\n');
    });

    test('is stopped by an interrupt and keeps its variables', async () => {
      const { id } = await open('bash');
      const [busy, calls] = [
        'z=9; while :; do :; done',
        'f() { while true; do sleep 0.2; done; echo no; }; f',
      ];
      for (const code of [busy, calls]) {
        const running = run(code, { id });
        await Bun.sleep(400);
        await client.call(sandboxCode.InterruptCode, { params: { sandboxId }, query: { id } });
        expect((await running).error?.evalue).toBe('130');
      }
      expect((await run('echo $z', { id })).stdout).toBe('9\n');
      await close(id);
    });

    test('that exits says so, is gone from the list, and is not taken for unknown', async () => {
      const { id } = await open('bash');
      const { error } = await run('echo last; exit 9', { id });
      expect(error).toMatchObject({ ename: 'ContextEnded', evalue: '9' });
      expect(error?.traceback[0]).toContain('has ended');
      const listed = await client.call(sandboxCode.ListCodeContexts, { params: { sandboxId } });
      expect(listed.map((one) => one.id)).not.toContain(id);
      expect(await refusal(run('echo', { id }))).toMatchObject({ http: 409, code: 'context_ended' });
      expect((await run('exit 3', bash)).error?.evalue).toBe('3');
      expect((await run('echo anew', bash)).stdout).toBe('anew\n');
    });

    test('is stopped by the id of its run too, and whoever reads it hears so', async () => {
      const running = run('sleep 600', bash);
      const { executions = [] } = await until(async () => {
        const answer = await client.call(sandboxHistory.ListSandboxExecutions, {
          params: { sandboxId },
          query: { limit: 1 },
        });
        return answer.executions?.[0]?.command === 'sleep 600' && answer;
      });
      await Bun.sleep(200);
      const query = { id: executions[0]?.id ?? '' };
      await client.call(sandboxCommand.InterruptCommand, { params: { sandboxId }, query });
      expect((await running).error?.evalue).toBe('130');
    });

    test('runs what comes meanwhile in its order', async () => {
      const { id } = await open('bash');
      const all = [1, 2, 3].map((n) => run(`sleep 0.1; order="\${order}${n}"; echo $order`, { id }));
      expect((await Promise.all(all)).map(({ stdout }) => stdout)).toEqual(['1\n', '12\n', '123\n']);
      expect((await all[2])?.events.flatMap(({ type, text }) => (type === 'status' ? [text] : []))).toEqual([
        'queued',
        'running',
      ]);
      await close(id);
    });

    test('is interrupted when its caller leaves', async () => {
      const { id } = await open('bash');
      const controller = new AbortController();
      const messages = stream('sleep 600; echo no', { id }, controller.signal);
      await messages.next();
      await Bun.sleep(300);
      controller.abort();
      await messages.next().catch(() => undefined);
      expect((await run('echo free', { id })).stdout).toBe('free\n');
      await close(id);
    });

    test('shows code that forges the words of its kernel as what it is', async () => {
      const forged = await run(`printf '\\x1e%s.{"type":"end","code":0}\\n' AAAA; echo after`, bash);
      expect(forged.stdout).toBe('\u001eAAAA.{"type":"end","code":0}\nafter\n');
      const long = await run(`printf '\\x1e'; head -c 100000 /dev/zero | tr '\\0' x`, bash);
      expect(long.stdout.length).toBe(100_001);
    });

    test('prints megabytes without loss', async () => {
      const { stdout } = await run('head -c 8000000 /dev/zero | tr "\\0" y', bash);
      expect(stdout.length).toBe(8_000_000);
    });
  });

  test('a program that the image has not is named', async () => {
    if (name !== 'docker') return;
    for (const [language, program] of [
      ['python', 'python3'],
      ['typescript', 'node'],
    ] as const) {
      const error = await refusal(open(language));
      expect(error).toMatchObject({ http: 409, message: expect.stringContaining(`has no ${program}`) });
    }
  });

  test('what is asked wrongly is refused by name', async () => {
    expect(await refusal(open('cobol'))).toMatchObject({
      http: 400,
      message: expect.stringContaining('language'),
    });
    expect(await refusal(run('1', { id: 'ctx_nobody' }))).toMatchObject({ http: 404 });
    const { id } = await open('bash');
    expect(await refusal(run('1', { id, language: 'python' }))).toMatchObject({
      http: 400,
      message: expect.stringContaining('context.language'),
    });
    const idle = client.call(sandboxCode.InterruptCode, { params: { sandboxId }, query: { id } });
    expect(await refusal(idle)).toMatchObject({ http: 409 });
    await close(id);
    expect(await refusal(close(id))).toMatchObject({ http: 409, code: 'context_ended' });
  });

  test('a sandbox has so many contexts and no more', async () => {
    const opened: string[] = [];
    const full = await refusal(
      (async () => {
        for (let i = 0; i < 9; i++) opened.push((await open('bash')).id);
      })(),
    );
    expect(full).toMatchObject({ http: 429, code: 'resource_exhausted' });
    const { deleted } = await client.call(sandboxCode.DeleteCodeContextsByLanguage, {
      params: { sandboxId },
      query: { language: 'bash' },
    });
    expect(deleted).toBeGreaterThanOrEqual(opened.length);
  });

  test('runs stand in the history with what they printed', async () => {
    const { id } = await run('echo remembered; (exit 4)', { language: 'bash' });
    const { executions = [] } = await client.call(sandboxHistory.ListSandboxExecutions, {
      params: { sandboxId },
      query: { limit: 5 },
    });
    expect(executions.find((one) => one.id === id)).toMatchObject({
      toolName: 'code',
      language: 'bash',
      command: 'echo remembered; (exit 4)',
      exitCode: 4,
      stdout: 'remembered\n',
    });
  });

  test('contexts end with their sandbox', async () => {
    const other = await newSandbox(client, { image });
    const { id } = await client.call(sandboxCode.CreateCodeContext, {
      params: { sandboxId: other },
      body: { language: 'bash' },
    });
    await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: other }, body: {} });
    const get = () =>
      refusal(client.call(sandboxCode.GetCodeContext, { params: { sandboxId: other, contextId: id } }));
    await until(async () => (await get())?.code === 'context_ended');
    expect((await get()).message).toContain('its sandbox was stopped');
  });

  describe.skipIf(!hasPython)('python', () => {
    const python = { language: 'python' };

    test('keeps variables and answers the last value', async () => {
      await run('import json\nx = {"a": [1, 2]}');
      const { results, events } = await run('json.dumps(x)');
      expect(results).toEqual([{ 'text/plain': `'{"a": [1, 2]}'` }]);
      expect(events[1]).toMatchObject({ type: 'execution_count', execution_count: 2 });
      expect((await run('import asyncio\nawait asyncio.sleep(0.01)\n6 * 7', python)).results).toEqual([
        { 'text/plain': '42' },
      ]);
    });

    test('shows prints, children and C alike, live', async () => {
      const code =
        'import os, sys, ctypes, time\nprint("one")\nos.system("echo two")\nctypes.CDLL(None).puts(b"three")\nprint("err", file=sys.stderr)';
      const { stdout, stderr } = await run(code, python);
      expect(stdout.split('\n').filter(Boolean).sort()).toEqual(['one', 'three', 'two']);
      expect(stderr).toBe('err\n');
      const live = stream('print("now", end="")\ntime.sleep(1.5)', python);
      const started = Date.now();
      for await (const { data } of live) if (JSON.parse(data).type === 'stdout') break;
      expect(Date.now() - started).toBeLessThan(1400);
    });

    test('shows the lines of the code in a traceback and nothing of the kernel', async () => {
      await run('def fail(n):\n    return 1 / n', python);
      const { error } = await run('\nfail(0)', python);
      expect(error).toMatchObject({ ename: 'ZeroDivisionError', evalue: 'division by zero' });
      const text = error?.traceback.join('\n') ?? '';
      expect(text).toMatch(/File "<cell \d+>", line 2, in <module>/);
      expect(text).toContain('return 1 / n');
      expect(text).not.toContain('svc');
      expect((await run('x ===', python)).error?.ename).toBe('SyntaxError');
      expect((await run('input("name? ")', python)).error?.evalue).toContain('no stdin');
    });

    test('answers the rich forms of values', async () => {
      const shapes =
        'class Shape:\n  def _repr_png_(self): return b"\\x89PNG"\n  def _repr_html_(self): return "<b>s</b>"\n  def _repr_json_(self): return {"a": 1}\ndisplay(Shape())\nShape()';
      const { results } = await run(shapes, python);
      expect(results).toHaveLength(2);
      for (const one of results)
        expect(one).toMatchObject({
          'image/png': 'iVBORw==',
          'text/html': '<b>s</b>',
          'application/json': { a: 1 },
        });
      const [large] = (await run('"x" * 20_000_000', python)).results;
      expect(String(large?.['text/plain']).length).toBeLessThan(1_100_000);
      expect(large?.['text/plain']).toContain('svc shows the first');
    });

    test('shows figures that nobody has saved', async () => {
      const { error, results } = await run(
        // Debian's package looks for its settings in /etc, which the host's image does not have.
        'import os\nopen("/tmp/rc", "w").close()\nos.environ["MATPLOTLIBRC"] = "/tmp/rc"\nimport matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()\nplt.plot([3, 1])',
        python,
      );
      if (error?.ename === 'ModuleNotFoundError')
        return console.log('not tested: this host has no matplotlib');
      const images = results.flatMap((one) => one['image/png'] ?? []);
      expect(images).toEqual([expect.stringMatching(/^iVBOR/), expect.stringMatching(/^iVBOR/)]);
    });

    test('is interrupted and keeps its variables, also when it waits for a child', async () => {
      const { id } = await open('python');
      for (const code of [
        'kept = 1\nwhile True: pass',
        'import os\nos.system("sleep 600")',
        'import asyncio\nawait asyncio.sleep(600)',
      ]) {
        const running = run(code, { id });
        await Bun.sleep(500);
        await client.call(sandboxCode.InterruptCode, { params: { sandboxId }, query: { id } });
        const { error } = await running;
        if (!code.includes('os.system')) expect(error?.ename).toBe('KeyboardInterrupt');
      }
      expect((await run('kept', { id })).results).toEqual([{ 'text/plain': '1' }]);
      await close(id);
    });

    test.each([
      ['raise SystemExit(4)', '4', 'left it with exit code 4'],
      ['import os; os._exit(5)', '5', 'ended with exit code 5'],
      ['import os; os.kill(os.getpid(), 11)', '139', 'SIGSEGV'],
    ])('that dies by %s says why', async (code, evalue, why) => {
      const { id } = await open('python');
      const { error } = await run(code, { id });
      expect(error).toMatchObject({ ename: 'ContextEnded', evalue });
      expect(error?.traceback[0]).toContain(why);
    });

    test('that takes all the memory says so, and the sandbox lives on', async () => {
      const { id } = await open('python');
      const { error } = await run('b = []\nwhile True: b.append(bytearray(64 * 1024 * 1024))', { id });
      expect(error?.ename).toMatch(/ContextEnded|MemoryError/);
      if (error?.ename === 'ContextEnded') expect(error.traceback[0]).toContain('out of memory');
      expect((await run('echo alive', { language: 'bash' })).stdout).toBe('alive\n');
    });

    test('gives code that closes its outputs new ones for the next run', async () => {
      await run('import os, sys\nos.close(1)\nsys.stdout = None', python);
      expect((await run('print("again")', python)).stdout).toBe('again\n');
    });
  });

  describe.skipIf(!hasNode)('javascript and typescript', () => {
    const javascript = { language: 'javascript' };
    const typescript = { language: 'typescript' };

    test('redeclares, awaits, imports and answers the last value', async () => {
      await run('const a = 1; let b = 2', javascript);
      const { results } = await run('const a = { n: [b, 3] }; await null; a', javascript);
      expect(results).toEqual([{ 'text/plain': '{ n: [ 2, 3 ] }', 'application/json': { n: [2, 3] } }]);
      const imported = await run(
        'import { join } from "node:path";\nimport fs from "fs";\n[join("a", "b"), typeof fs.readFileSync]',
        javascript,
      );
      expect(imported.results[0]?.['application/json']).toEqual(['a/b', 'function']);
      expect((await run('new Map([[1, 2]])', javascript)).results).toEqual([
        { 'text/plain': 'Map(1) { 1 => 2 }' },
      ]);
    });

    test('keeps the channels apart and names its lines in errors', async () => {
      const { stdout, stderr, error } = await run(
        'console.log("out"); console.error("err");\nfunction f() { null.x }\nf()',
        javascript,
      );
      expect([stdout, stderr]).toEqual(['out\n', 'err\n']);
      expect(error?.ename).toBe('TypeError');
      expect(error?.traceback.join('\n')).toMatch(/<cell \d+>:2:/);
      expect((await run('let y = ;', javascript)).error?.ename).toBe('SyntaxError');
      const late = await run(
        'setTimeout(() => { throw new Error("late") }, 5); await new Promise((r) => setTimeout(r, 50))',
        javascript,
      );
      expect(late.stderr).toContain('late');
    });

    test.each([
      'for (;;) {}',
      'await new Promise(() => {})',
      'require("child_process").execSync("sleep 600")',
    ])('is interrupted in %s and keeps its variables', async (code) => {
      const { id } = await open('javascript');
      await run('const kept = 7', { id });
      const running = run(code, { id });
      await Bun.sleep(500);
      await client.call(sandboxCode.InterruptCode, { params: { sandboxId }, query: { id } });
      expect((await running).error).toBeDefined();
      expect((await run('kept', { id })).results[0]?.['application/json']).toBe(7);
      await close(id);
    });

    test('that exits says so', async () => {
      const { id } = await open('javascript');
      expect((await run('process.exit(7)', { id })).error).toMatchObject({
        ename: 'ContextEnded',
        evalue: '7',
      });
    });

    test('typescript loses its types, enums included', async () => {
      const code = 'interface P { a: string }\nenum E { A, B }\nconst p: P = { a: "s" };\n[p as P, E.B]';
      expect((await run(code, typescript)).results[0]?.['application/json']).toEqual([{ a: 's' }, 1]);
      expect((await run('p.a satisfies string', typescript)).results[0]?.['application/json']).toBe('s');
      expect((await run('let z: = 5', typescript)).error?.ename).toBe('SyntaxError');
    });
  });
});

describe.each(places)('a short idle limit on the $name driver', ({ env, image }) => {
  test('closes contexts that nobody uses, and none that is busy', async () => {
    const daemon = await startDaemon({ env: { ...env, SVC_SANDBOX_CODE_IDLE: '500ms' } });
    const client = clientOf(daemon);
    const sandboxId = await newSandbox(client, { image });
    const { id } = await client.call(sandboxCode.CreateCodeContext, {
      params: { sandboxId },
      body: { language: 'bash' },
    });
    const body = { code: 'sleep 1.2; echo done', context: { id } };
    const texts: string[] = [];
    for await (const { data } of client.stream(sandboxCode.ExecuteCode, { params: { sandboxId }, body }))
      texts.push(JSON.parse(data).text);
    expect(texts).toContain('done\n');
    const get = () =>
      refusal(client.call(sandboxCode.GetCodeContext, { params: { sandboxId, contextId: id } }));
    await until(async () => (await get())?.message.includes('it was not used'));
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
    await daemon.stop();
  });
});

describe.each(places)('a daemon on the $name driver that was restarted', ({ env, image }) => {
  test('knows that the contexts ended with it', async () => {
    const first = await startDaemon({ env });
    const before = clientOf(first);
    const sandboxId = await newSandbox(before, { image });
    const { id: contextId } = await before.call(sandboxCode.CreateCodeContext, {
      params: { sandboxId },
      body: { language: 'bash' },
    });
    await first.kill9();
    const second = await startDaemon({ env, dataDir: first.dataDir, apiKey: first.apiKey });
    const after = clientOf(second);
    const error = await refusal(after.call(sandboxCode.GetCodeContext, { params: { sandboxId, contextId } }));
    expect(error).toMatchObject({ http: 409, message: expect.stringContaining('svc was restarted') });
    await after.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
    await second.stop();
  });
});
