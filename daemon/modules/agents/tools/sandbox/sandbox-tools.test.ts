import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { callAndDie } from '../testing/call-process.ts';
import { CALLER, openToolScene, sceneCases, type ToolScene, testCall, toolAgent } from '../testing/scene.ts';
import type { JsonObject, ToolContext } from '../tool.ts';

// Sandboxes are made in these tests, on machines that may be busy.
setDefaultTimeout(60_000);

const session = (n: number) => `ses_${String(n).padStart(26, '0')}`;
const typesOf = (call: ReturnType<typeof testCall>) => call.events.map(({ type }) => type);

describe.each(sceneCases)('tools in sandboxes ($name)', ({ name, flags }) => {
  let scene: ToolScene;
  beforeAll(async () => {
    scene = await openToolScene({ flags });
  });
  afterAll(() => scene?.close());

  const run = (tool: string, args: JsonObject, context?: ToolContext) => scene.run(tool, args, context);
  const output = async (tool: string, args: JsonObject, context?: ToolContext) =>
    (await run(tool, args, context)).output;
  const boxes = () =>
    scene.app.db.raw
      .query<{ id: string; name: string; session_id: string; state: string }, []>(
        'SELECT id, name, session_id, state FROM sandboxes ORDER BY created_at',
      )
      .all();
  const boxOf = (sessionId: string) => boxes().filter((box) => box.session_id === sessionId);

  test('a command gives its code, both outputs in their order, and its time', async () => {
    const call = testCall();
    const outcome = await run(
      'sandbox_shell',
      { command: 'echo one; echo two >&2; echo three; exit 3' },
      call,
    );
    expect(outcome.ok).toBe(false);
    expect(outcome.output).toMatch(/^exit code 3 after \d+ ms\none\ntwo\nthree\n$/);
    expect(typesOf(call).slice(-2)).toEqual(['sandbox.exec', 'sandbox.result']);
    expect(call.events.at(-2)?.toolArgs).toContain('echo one');
    expect(call.events.at(-1)).toMatchObject({ sandboxExitCode: 3, sandboxId: boxes()[0]?.id });
    expect(Number(call.events.at(-1)?.sandboxDurationMs)).toBeGreaterThanOrEqual(0);
    expect(call.notes).toHaveLength(1);
  });

  test('a session has one sandbox, made once for calls that come together, with a name and its session', async () => {
    const calls = Array.from({ length: 4 }, () => testCall({ sessionId: session(1) }));
    await Promise.all(calls.map((call, i) => run('sandbox_shell', { command: `echo ${i} >>all` }, call)));
    expect((await output('sandbox_shell', { command: 'wc -l <all' }, calls[0])).trim()).toEndWith('4');
    expect(boxOf(session(1))).toHaveLength(1);
    expect(boxOf(session(1))[0]?.name).toBe(`test-agent-${session(1).slice(-8)}`);
    expect(calls.flatMap(typesOf).filter((type) => type === 'sandbox.create')).toHaveLength(1);
    expect(calls.flatMap(typesOf).filter((type) => type === 'sandbox.ready')).toHaveLength(1);
  });

  test('one that sleeps is woken with its files; one that is gone is made again, and the model is told', async () => {
    const context = () => testCall({ sessionId: session(2) });
    await run('sandbox_write_file', { path: 'kept.txt', content: 'kept' }, context());
    const [box] = boxOf(session(2));
    await scene.sandboxes.terminate(CALLER.tenant, 'sbx_missing').catch(() => undefined);
    await scene.stop(box?.id ?? '');
    expect(boxOf(session(2))[0]?.state).toBe('sleeping');
    const woken = context();
    expect(await output('sandbox_read_file', { path: 'kept.txt' }, woken)).toContain('kept');
    expect(typesOf(woken)).toContain('sandbox.ready');
    await scene.sandboxes.terminate(CALLER.tenant, box?.id ?? '');
    const again = await run('sandbox_read_file', { path: 'kept.txt' }, context());
    expect(again.ok).toBe(false);
    expect(again.output).toStartWith('Note: the sandbox that you had is gone');
    expect(boxOf(session(2)).map(({ state }) => state)).toEqual(['terminated', 'running']);
    expect(await output('sandbox_shell', { command: 'true' }, context())).toStartWith('exit code 0');
  });

  test('a persistent agent keeps one sandbox over its sessions; that of an ephemeral one ends with the session', async () => {
    const agent = toolAgent({ id: 'agt_02', config: { ...toolAgent().config, lifecycle: 'persistent' } });
    await run('sandbox_write_file', { path: 'a', content: 'x' }, testCall({ agent, sessionId: session(3) }));
    const other = await output(
      'sandbox_read_file',
      { path: 'a' },
      testCall({ agent, sessionId: session(4) }),
    );
    expect(other).toContain('x');
    await scene.room.endSession(CALLER.tenant, agent, session(3));
    expect(boxOf(session(3))[0]?.state).toBe('running');
    await run('sandbox_shell', { command: 'true' }, testCall({ sessionId: session(5) }));
    await scene.room.endSession(CALLER.tenant, toolAgent(), session(5));
    expect(boxOf(session(5))[0]?.state).toBe('terminated');
    await scene.room.endSession(CALLER.tenant, toolAgent(), session(6));
  });

  test('a viewer is refused, and another tenant has another sandbox', async () => {
    const viewer = testCall({ caller: { ...CALLER, role: 'viewer' } });
    const refused = await run('sandbox_shell', { command: 'true' }, viewer);
    expect(refused).toEqual({ ok: false, output: 'This needs the role member.' });
    expect(viewer.events).toEqual([]);
    const theirs = testCall({ caller: { ...CALLER, tenant: 'org_b' }, sessionId: session(1) });
    expect(await output('sandbox_list_files', {}, theirs)).toBe('/workspace is empty.');
  });

  test('the working directory is made, and paths and commands begin there', async () => {
    const agent = toolAgent({ workingDirectory: 'app/src' });
    const context = testCall({ agent, sessionId: session(7) });
    expect(await output('sandbox_shell', { command: 'pwd' }, context)).toEndWith('\n/workspace/app/src\n');
    await run('sandbox_write_file', { path: './x/y.txt', content: 'y' }, context);
    expect(await output('sandbox_shell', { command: 'cat y.txt', workDir: 'x' }, context)).toEndWith('\ny');
    const bad = testCall({ agent: toolAgent({ workingDirectory: '/proc/no' }), sessionId: session(7) });
    expect(await output('sandbox_shell', { command: 'pwd' }, bad)).toContain('"/proc/no" cannot be used');
  });

  test('a sandbox that cannot be made is an outcome, and is told', async () => {
    const agent = toolAgent({ config: { ...toolAgent().config, sandbox: { memoryMb: 1 } } });
    const call = testCall({ agent, sessionId: session(8) });
    const outcome = await run('sandbox_shell', { command: 'true' }, call);
    expect(outcome.ok).toBe(false);
    expect(outcome.output).toContain('memoryMb');
    expect(call.events.map(({ type }) => type)).toEqual(['sandbox.create', 'sandbox.error']);
  });

  test('a cancelled command is killed with all that it has started', async () => {
    const stop = new AbortController();
    const context = testCall({ signal: stop.signal });
    const command = 'echo begun >begun; (setsid sh -c "sleep 2; echo late >late" &); sleep 60';
    const running = run('sandbox_shell', { command }, context);
    running.catch(() => undefined);
    while (!(await output('sandbox_list_files', {})).includes('begun')) await Bun.sleep(20);
    stop.abort();
    expect(running).rejects.toMatchObject({ code: 'cancelled' });
    await running.catch(() => undefined);
    await Bun.sleep(2_500);
    expect(await output('sandbox_list_files', {})).not.toContain('late');
  });

  test('a command that takes too long is killed', async () => {
    const outcome = await run('sandbox_shell', { command: 'echo a; sleep 60', timeoutSeconds: 1 });
    expect(outcome).toMatchObject({ ok: false });
    expect(outcome.output).toMatch(/^exit code 137 \(killed after its timeout\) after 1\.\d s\na\n$/);
  });

  test('a server that is left running stays, and its port gets an address', async () => {
    const nothing = await output('sandbox_expose_port', { port: 8099 });
    expect(nothing).toContain('Nothing listens on port 8099 yet');
    if (name === 'docker') return;
    const command =
      'python3 -c "import socket; s = socket.create_server((\'127.0.0.1\', 8099)); [s.accept() for _ in range(9)]" >/dev/null 2>&1 &\nfor i in $(seq 50); do grep -q :1FA3 /proc/net/tcp && break; sleep 0.1; done';
    expect((await run('sandbox_shell', { command })).ok).toBe(true);
    expect(await output('sandbox_expose_port', { port: 8099 })).toMatch(/^http:\/\/8099-\w+\.\S+\/$/);
  });

  test('code runs in its language, beside the files of the working directory', async () => {
    const cases: Array<[language: string, code: string, shown: string]> = [
      ['bash', 'echo $((6 * 7)); ls .svc-* | wc -l', '42\n1\n'],
      ...(name === 'docker'
        ? []
        : ([
            ['python', 'import helper\nprint(helper.answer)', '42\n'],
            ['javascript', "const {join} = require('node:path'); console.log(join('a', 'b'))", 'a/b\n'],
            ['javascript', "import {join} from 'node:path';\nconsole.log(await join('a', 'c'))", 'a/c\n'],
            ['typescript', 'const n: number = 42; console.log(n satisfies number)', '42\n'],
            ['typescript', 'enum A { B = 42 }\nconsole.log(A.B)', '42\n'],
          ] as Array<[string, string, string]>)),
    ];
    await run('sandbox_write_file', { path: 'helper.py', content: 'answer = 42\n' });
    for (const [language, code, shown] of cases) {
      const outcome = await run('sandbox_execute', { language, code });
      expect(outcome.output).toEndWith(`\n${shown}`);
      expect(outcome.ok).toBe(true);
    }
    if (name === 'namespace') {
      const broken = await run('sandbox_execute', { language: 'typescript', code: 'const = ;' });
      expect(broken.output).toMatch(/^exit code 1 [^\n]+\nSyntaxError: /);
    }
    expect(await output('sandbox_shell', { command: 'ls -A' })).not.toContain('.svc-');
  });

  test.skipIf(name === 'docker')(
    'code does nothing outside of the sandbox, not even while its types are taken out',
    async () => {
      const proof = `${scene.dataDir}/proof`;
      const code = `import { writeFileSync } from 'node:fs' with { type: 'macro' };\nwriteFileSync(${JSON.stringify(proof)}, 'x');`;
      await run('sandbox_execute', { language: 'typescript', code });
      expect(existsSync(proof)).toBe(false);
    },
  );

  test('files are written, read by lines, changed and found', async () => {
    const context = testCall({ sessionId: session(9) });
    const lines = Array.from({ length: 5_000 }, (_, i) => `line ${i + 1}`);
    await run('sandbox_write_file', { path: 'src/long.txt', content: lines.join('\n') }, context);
    const first = await output('sandbox_read_file', { path: 'src/long.txt' }, context);
    const next = Number(/go on with offset (\d+)/.exec(first)?.[1]);
    const second = await output(
      'sandbox_read_file',
      { path: 'src/long.txt', offset: next, limit: 2 },
      context,
    );
    expect(second).toStartWith(`${String(next).padStart(6)}\tline ${next}\n`);
    expect(await output('sandbox_read_file', { path: 'src/lng.txt' }, context)).toContain(
      'nearest: long.txt',
    );
    expect(await output('sandbox_read_file', { path: 'src' }, context)).toContain('is a directory');
    await run('sandbox_shell', { command: 'head -c 100 /dev/zero >zeros' }, context);
    expect(await output('sandbox_read_file', { path: 'zeros' }, context)).toContain('it is binary');
    const twice = await run(
      'sandbox_edit',
      { path: 'src/long.txt', oldText: 'line 7\n', newText: 'x\n' },
      context,
    );
    expect(twice.output).toBe('Replaced once in /workspace/src/long.txt (line 7).');
    const many = await output(
      'sandbox_edit',
      { path: 'src/long.txt', oldText: 'line 1', newText: 'y' },
      context,
    );
    expect(many).toContain('oldText is there 1111 times');
    const found = await output('sandbox_grep', { pattern: '^x$', glob: '*.txt' }, context);
    expect(found).toBe('src/long.txt:7: x');
    expect(await output('sandbox_grep', { pattern: '^x$', glob: '*.md' }, context)).toContain(
      'No line below',
    );
    expect(await output('sandbox_grep', { pattern: '(', glob: '*.md' }, context)).toStartWith('pattern: ');
    expect(await output('sandbox_glob', { pattern: 'src/*.txt' }, context)).toBe('src/long.txt');
    expect(await output('sandbox_glob', { pattern: '*.rs' }, context)).toContain('Nothing below');
    const listed = await output('sandbox_list_files', { depth: 2 }, context);
    expect(listed.split('\n').map((line) => line.trim().split(' ')[1])).toEqual([
      'src/',
      'src/long.txt',
      'zeros',
    ]);
    await run(
      'sandbox_shell',
      { command: 'mkdir -p node_modules .git && echo x >node_modules/a && echo x >.git/a' },
      context,
    );
    expect(await output('sandbox_grep', { pattern: '^x$' }, context)).toBe('src/long.txt:7: x');
  });

  test('a patch changes, makes and removes files, all or none', async () => {
    const context = testCall({ sessionId: session(10) });
    await run('sandbox_write_file', { path: 'a.txt', content: 'one\ntwo\nthree\n' }, context);
    await run('sandbox_write_file', { path: 'old.txt', content: 'gone\n' }, context);
    const good = [
      '--- a/a.txt\n+++ b/a.txt\n@@ -1,9 +1,9 @@\n one\n-two\n+TWO\n three',
      '--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1 @@\n+made',
      '--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone',
    ].join('\n');
    const bad = `${good.replaceAll('two', 'zwei')}\n`;
    const refused = await run('sandbox_patch', { patch: bad }, context);
    expect(refused.output).toBe(
      'Nothing was changed: a hunk does not fit /workspace/a.txt: read the file again.',
    );
    expect(await output('sandbox_shell', { command: 'cat a.txt; ls' }, context)).toEndWith(
      'one\ntwo\nthree\na.txt\nold.txt\n',
    );
    expect(await output('sandbox_patch', { patch: good }, context)).toBe(
      'changed /workspace/a.txt\nmade /workspace/new/b.txt\nremoved /workspace/old.txt',
    );
    expect(await output('sandbox_shell', { command: 'cat a.txt new/b.txt; ls' }, context)).toEndWith(
      'one\nTWO\nthree\nmade\na.txt\nnew\n',
    );
  });

  test('a file becomes an artifact that outlives its sandbox, and goes into another one', async () => {
    const context = (sessionId = session(11)) => testCall({ sessionId });
    await run('sandbox_write_file', { path: 'r.csv', content: 'a,b\n1,2\n' }, context());
    const call = context();
    const kept = await output('upload_artifact', { path: 'r.csv' }, call);
    const id = /art_\w+/.exec(kept)?.[0] ?? '';
    expect(await output('upload_artifact', { path: 'r.csv' }, call)).toContain(id);
    await scene.sandboxes.terminate(CALLER.tenant, boxOf(session(11))[0]?.id ?? '');
    expect(await output('list_artifacts', {}, context())).toBe(`${id} 8 B r.csv`);
    await run('download_artifact', { artifactId: id, path: 'back.csv' }, context());
    expect(await output('sandbox_shell', { command: 'cat back.csv' }, context())).toEndWith('a,b\n1,2\n');
    expect(await output('read_artifact', { artifactId: id }, context(session(12)))).toContain(
      'There is no artifact',
    );
  });
});

describe.each(sceneCases)('calls that end with the daemon ($name)', ({ name, flags }) => {
  const count = 'echo ran >>count; sleep 1.5; echo done';
  const cases: Array<[what: string, tool: string, args: JsonObject, dies: 'note' | number, shown: RegExp]> = [
    ['a command that runs', 'sandbox_shell', { command: count }, 600, /^exit code 0 after [\d.]+ s\ndone\n$/],
    [
      'a command that was not started',
      'sandbox_shell',
      { command: count },
      'note',
      /^exit code 0 [^\n]+\ndone\n$/,
    ],
    [
      'code that runs',
      'sandbox_execute',
      { language: 'bash', code: count },
      900,
      /^exit code 0 [^\n]+\ndone\n$/,
    ],
    [
      'a file that was about to be written',
      'sandbox_write_file',
      { path: 'count', content: 'ran\n' },
      'note',
      /^Wrote 4 bytes/,
    ],
  ];
  test.each(cases)('%s (%#) is found and never runs twice', async (_, tool, args, dies, shown) => {
    const first = await openToolScene({ flags });
    const { dataDir, instance } = first;
    await first.run('sandbox_shell', { command: 'true' });
    await first.leave();
    const notes = await callAndDie({ scene: { dataDir, instance, flags }, tool, args, dies });
    const scene = await openToolScene({ dataDir, instance, flags });
    try {
      const call = testCall();
      const outcome = await scene.tool(tool).recover?.(args, call, notes.at(-1) ?? '');
      expect(outcome?.output).toMatch(shown);
      expect((await scene.run('sandbox_shell', { command: 'cat count; ls -A' })).output).toEndWith(
        '\nran\ncount\n',
      );
    } finally {
      await scene.close();
    }
  });

  test('a command whose start was cut off is taken up or unknown, never run again', async () => {
    const first = await openToolScene({ flags });
    const { dataDir, instance } = first;
    await first.run('sandbox_shell', { command: 'true' });
    await first.leave();
    const args = { command: count };
    const [note = ''] = await callAndDie({
      scene: { dataDir, instance, flags },
      tool: 'sandbox_shell',
      args,
      dies: 700,
    });
    const between = await openToolScene({
      dataDir,
      instance,
      flags: { ...flags, 'sandbox.driver': 'docker', 'sandbox.docker_socket': '/nonexistent' },
    });
    between.app.db.raw.run("UPDATE executions SET ref = NULL WHERE state = 'running'");
    await between.leave();
    const scene = await openToolScene({ dataDir, instance, flags });
    try {
      const outcome = await scene.tool('sandbox_shell').recover?.(args, testCall(), note);
      if (name === 'namespace') expect(outcome?.output).toEndWith('\ndone\n');
      else expect(outcome).toBeUndefined();
      await Bun.sleep(1_500);
      expect((await scene.run('sandbox_shell', { command: 'cat count' })).output).toEndWith('\nran\n');
    } finally {
      await scene.close();
    }
  });

  test('an edit that was done is not done again, and one that was not is done', async () => {
    const scene = await openToolScene({ flags });
    try {
      const args = { path: 'f', oldText: 'a', newText: 'aa', replaceAll: true };
      await scene.run('sandbox_write_file', { path: 'f', content: 'a-a' });
      const call = testCall();
      await scene.run('sandbox_edit', args, call);
      const [note = ''] = call.notes;
      const content = async () =>
        (await scene.run('sandbox_shell', { command: 'cat f' })).output.split('\n')[1];
      const recover = () => scene.tool('sandbox_edit').recover?.(args, testCall(), note);
      expect((await recover())?.output).toBe('Changed /workspace/f.');
      expect(await content()).toBe('aa-aa');
      await scene.run('sandbox_write_file', { path: 'f', content: 'a-a' });
      expect((await recover())?.ok).toBe(true);
      expect(await content()).toBe('aa-aa');
      await scene.run('sandbox_write_file', { path: 'f', content: 'other' });
      expect(await recover()).toBeUndefined();
      expect(await content()).toBe('other');
    } finally {
      await scene.close();
    }
  });

  test('a patch that was half done is finished', async () => {
    const scene = await openToolScene({ flags });
    try {
      const patch = ['a', 'b'].map((file) => `--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-x\n+y\n`).join('');
      const write = (path: string, content: string) => scene.run('sandbox_write_file', { path, content });
      await write('a', 'x\n');
      await write('b', 'x\n');
      const call = testCall();
      await scene.run('sandbox_patch', { patch }, call);
      await write('b', 'x\n');
      const outcome = await scene.tool('sandbox_patch').recover?.({ patch }, testCall(), call.notes[0] ?? '');
      expect(outcome?.output).toBe('changed /workspace/a\nchanged /workspace/b');
      expect((await scene.run('sandbox_shell', { command: 'cat a b' })).output).toEndWith('\ny\ny\n');
    } finally {
      await scene.close();
    }
  });
});
