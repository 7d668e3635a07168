import { describe, expect, test } from 'bun:test';
import { newId } from '../../../../../src/kit/id.ts';
import { countProcesses, finish, run, type Scene, settle, sh, withBox, within } from './scene.ts';

/** How commands start, what they are given and how they end. */
export function commandRules(scene: Scene): void {
  describe('a command', () => {
    test.each([
      ['true', 0],
      ['exit 1', 1],
      ['exit 42', 42],
      ['exit 255', 255],
    ])('%s ends with the code %i', async (script, code) => {
      const { exit } = await run(scene, script);
      expect(exit).toEqual({ code });
    });

    test.each([
      ['TERM', 'SIGTERM', 143],
      ['KILL', 'SIGKILL', 137],
      ['SEGV', 'SIGSEGV', 139],
    ])('that a signal %s ends says so', async (short, signal, code) => {
      const { exit } = await run(scene, `kill -${short} $$`);
      expect(exit).toMatchObject({ code, signal });
      expect(exit.outOfMemory ?? false).toBe(false);
    });

    test.each([
      ['a program that is not there', { argv: ['/no/such/program'] as [string] }, [127]],
      ['a program that is not in the path', { argv: ['no-such-program'] as [string] }, [127]],
      ['a file that is not executable', { argv: ['/etc/passwd'] as [string] }, [126]],
      ['a directory that is not there', { cwd: '/no/such/dir' }, [126, 127]],
    ])('with %s does not start', async (_, change, codes) => {
      const { exit, stdout } = await run(scene, 'true', change);
      expect(codes).toContain(exit.code);
      expect(exit.startError).toBeString();
      expect(exit.startError).not.toBe('');
      expect(exit.signal).toBeUndefined();
      expect(stdout).toBe('');
    });

    test('that itself exits with 127 did start', async () => {
      expect((await run(scene, 'exit 127')).exit).toEqual({ code: 127 });
      expect((await run(scene, 'no-such-program')).exit).toEqual({ code: 127 });
    });

    test('runs as the user of the box, at home in /workspace, with a path', async () => {
      const { stdout } = await run(scene, 'id -u; id -g; echo $HOME; pwd; echo $PATH');
      const [uid, gid, home, cwd, path] = stdout.trim().split('\n');
      expect([uid, gid, home, cwd]).toEqual(['1000', '1000', '/home/svc', '/workspace']);
      expect(path).toContain('/usr/bin');
      const files = await run(scene, 'touch /workspace/t ~/t /tmp/t && rm /workspace/t ~/t /tmp/t');
      expect(files).toEqual({ stdout: '', stderr: '', exit: { code: 0 } });
    });

    test('runs as another user, also as root inside', async () => {
      const who = 'echo $(id -u):$(id -g)';
      expect((await run(scene, who, { uid: 0 })).stdout).toBe('0:0\n');
      expect((await run(scene, who, { uid: 1234, gid: 4321 })).stdout).toBe('1234:4321\n');
      const root = await run(
        scene,
        'touch /root-was-here && chown 1000 /root-was-here && rm /root-was-here',
        {
          uid: 0,
        },
      );
      expect(root.exit).toEqual({ code: 0 });
    });

    test('has the environment of its box and its own, which wins', async () => {
      await withBox(scene, { env: { BOTH: 'box', BOX: 'äöü $x' } }, async (id) => {
        const env = { BOTH: 'command', OWN: 'line\nbreak', PERCENT: '%s "q"' };
        const { stdout } = await run(scene, 'printf "%s|" "$BOTH" "$BOX" "$OWN" "$PERCENT"', { env }, id);
        expect(stdout).toBe('command|äöü $x|line\nbreak|%s "q"|');
      });
    });

    test('starts where it is told, and where its box is told', async () => {
      expect((await run(scene, 'pwd', { cwd: '/usr' })).stdout).toBe('/usr\n');
      await withBox(scene, { workDir: '/tmp' }, async (id) => {
        expect((await run(scene, 'pwd', {}, id)).stdout).toBe('/tmp\n');
      });
    });

    test('is started from its words, without a shell', async () => {
      const argv: [string, ...string[]] = ['printf', '%s\n', 'a b', '$HOME', '', "'; echo x", '*'];
      const { stdout } = await finish(await scene.driver.exec(scene.box, { id: newId('cmd'), argv }));
      expect(stdout).toBe("a b\n$HOME\n\n'; echo x\n*\n");
    });

    test('has no stdin unless it asks', async () => {
      const result = await within(run(scene, 'cat; echo end'), 10_000);
      expect(result).toMatchObject({ stdout: 'end\n' });
    });

    test('reads what is written to it, to the end', async () => {
      const execution = await scene.driver.exec(scene.box, sh('cat; echo end', { stdin: true }));
      const result = finish(execution);
      await execution.write(new TextEncoder().encode('one\n'));
      await execution.write(new TextEncoder().encode('two\n'));
      await execution.endInput();
      expect(await result).toEqual({ stdout: 'one\ntwo\nend\n', stderr: '', exit: { code: 0 } });
    });

    test('that does not read its stdin does not break its caller', async () => {
      const execution = await scene.driver.exec(scene.box, sh('exec 0<&-; exit 3', { stdin: true }));
      const result = finish(execution);
      await execution.write(new Uint8Array(1024 * 1024)).catch(() => {});
      await execution.endInput().catch(() => {});
      expect((await result).exit).toEqual({ code: 3 });
    });

    test('leaves orphans to an init that reaps them', async () => {
      await run(scene, 'for i in 1 2 3 4 5; do (sh -c "sleep 0.1 & exec true" &) ; done');
      const zombies = () =>
        run(scene, 'cat /proc/[0-9]*/stat 2>/dev/null | grep -c ") Z " || true').then((r) => r.stdout.trim());
      expect(await settle(zombies, '0')).toBe('0');
    });

    test('can open its own outputs again by their names', async () => {
      const result = await run(scene, 'echo out >/dev/stdout; echo err >/dev/stderr');
      expect(result).toEqual({ stdout: 'out\n', stderr: 'err\n', exit: { code: 0 } });
    });

    test('is one of fifty at once', async () => {
      const all = Array.from({ length: 50 }, (_, i) => run(scene, `sleep 0.1; echo ${i}; exit ${i}`));
      const results = await Promise.all(all);
      expect(results.map(({ stdout }) => stdout.trim())).toEqual(results.map((_, i) => String(i)));
      expect(results.map(({ exit }) => exit.code)).toEqual(results.map((_, i) => i));
    });
  });

  describe('killing a command', () => {
    const tree = (mark: string) =>
      [
        `sleep ${mark} &`,
        `setsid sleep ${mark} &`,
        `(setsid sh -c 'sleep ${mark} & sleep ${mark} & wait' &)`,
        `(trap "" TERM INT HUP; sleep ${mark}; sleep ${mark}) &`,
        `(env -i /bin/sh -c '(exec setsid sleep ${mark}) &' &)`,
        'echo up',
        `sleep ${mark}`,
      ].join('\n');

    test('with SIGKILL leaves none of its descendants, and spares the others', async () => {
      const mark = '71717';
      const other = await scene.driver.exec(scene.box, sh('sleep 72727'));
      const execution = await scene.driver.exec(scene.box, sh(tree(mark)));
      await settle(async () => (await countProcesses(scene, `sleep ${mark}`)) >= 7, true);
      await execution.kill('SIGKILL');
      const { exit } = await finish(execution);
      expect(exit).toMatchObject({ code: 137, signal: 'SIGKILL' });
      expect(exit.outOfMemory ?? false).toBe(false);
      expect(await settle(() => countProcesses(scene, mark), 0)).toBe(0);
      expect(await countProcesses(scene, 'sleep 72727')).toBeGreaterThan(0);
      await other.kill('SIGKILL');
      expect((await other.exited).signal).toBe('SIGKILL');
    });

    test('with SIGKILL outruns one that forks all the time', async () => {
      const bomb = 'f() { while :; do (setsid sleep 73737 &) ; sleep 0.01; done; }; f & f & f';
      const execution = await scene.driver.exec(scene.box, sh(bomb));
      await Bun.sleep(300);
      await execution.kill('SIGKILL');
      expect((await finish(execution)).exit.code).toBe(137);
      expect(await settle(() => countProcesses(scene, '73737'), 0)).toBe(0);
    });

    test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('with %s lets it answer', async (signal) => {
      const name = signal.slice(3);
      const execution = await scene.driver.exec(
        scene.box,
        sh(`trap 'echo got ${name}; exit 9' ${name}; echo up; while :; do sleep 0.05; done`),
      );
      await Bun.sleep(300);
      await execution.kill(signal);
      const { stdout, exit } = await finish(execution);
      expect(stdout).toBe(`up\ngot ${name}\n`);
      expect(exit).toEqual({ code: 9 });
    });

    test('with SIGTERM ends one that does not care, with the name of the signal', async () => {
      const execution = await scene.driver.exec(scene.box, { id: newId('cmd'), argv: ['sleep', '74747'] });
      await settle(async () => (await countProcesses(scene, 'sleep 74747')) === 1, true);
      await execution.kill('SIGTERM');
      expect(await execution.exited).toMatchObject({ code: 143, signal: 'SIGTERM' });
    });

    test('that has hardly begun is not lost', async () => {
      const killed = await Promise.all(
        Array.from({ length: 10 }, async (_, i) => {
          const execution = await scene.driver.exec(scene.box, sh('sleep 1000'));
          await Bun.sleep(i * 2);
          await execution.kill(i % 2 ? 'SIGKILL' : 'SIGTERM');
          return within(execution.exited, 20_000);
        }),
      );
      expect(killed).toEqual(
        killed.map((_, i) => (i % 2 ? { code: 137, signal: 'SIGKILL' } : { code: 143, signal: 'SIGTERM' })),
      );
    });

    test('that is over does nothing', async () => {
      const execution = await scene.driver.exec(scene.box, sh('true'));
      await finish(execution);
      await execution.kill('SIGKILL');
      expect(await execution.exited).toEqual({ code: 0 });
    });
  });
}
