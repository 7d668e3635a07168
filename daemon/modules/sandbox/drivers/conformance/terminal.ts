import { describe, expect, test } from 'bun:test';
import type { Terminal } from '../driver.ts';
import { type Scene, sh, within } from './scene.ts';

/** Commands on a terminal. */
export function terminalRules(scene: Scene): void {
  describe('a terminal', () => {
    test('is one, of the size that was asked for, and changes its size', async () => {
      const terminal = await open(
        scene,
        'test -t 0 && test -t 1 && sleep 0.3 && stty size; read x; stty size',
      );
      await terminal.until('30 100');
      terminal.resize({ cols: 123, rows: 45 });
      await terminal.write('\r');
      await terminal.until('45 123');
      expect(await terminal.exited).toEqual({ code: 0 });
    });

    test('tells its program about a new size', async () => {
      const terminal = await open(scene, 'trap "stty size" WINCH; echo up; while :; do sleep 0.05; done');
      await terminal.until('up');
      terminal.resize({ cols: 77, rows: 33 });
      await terminal.until('33 77');
      await terminal.kill('SIGKILL');
      expect((await terminal.exited).signal).toBe('SIGKILL');
    });

    test('turns Ctrl-C into an interrupt', async () => {
      const terminal = await open(scene, 'echo up; exec sleep 1000');
      await terminal.until('up');
      await Bun.sleep(200);
      await terminal.write('\x03');
      expect(await within(terminal.exited, 10_000)).toMatchObject({ code: 130, signal: 'SIGINT' });
    });

    test('is the own terminal of its program, and loses nothing of its output', async () => {
      for (let i = 0; i < 10; i++) {
        const terminal = await open(scene, `tty; echo named >/dev/tty; echo last ${i}`);
        await terminal.until(`last ${i}`);
        await terminal.until('/dev/pts/');
        await terminal.until('named');
        expect(await terminal.exited).toEqual({ code: 0 });
      }
    });

    test('ends with the code of its program', async () => {
      const terminal = await open(scene, 'read line; echo "got $line"; exit 4');
      await terminal.write('hällo\r');
      await terminal.until('got hällo');
      expect(await within(terminal.exited, 10_000)).toEqual({ code: 4 });
    });

    test('passes large output to the end', async () => {
      const terminal = await open(scene, 'i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done');
      await terminal.until('line 19999');
      expect((await terminal.exited).code).toBe(0);
    });

    test('that is hung up ends its program', async () => {
      const terminal = await open(scene, 'echo up; sleep 1000');
      await terminal.until('up');
      await terminal.kill('SIGHUP');
      expect(await within(terminal.exited, 10_000)).toMatchObject({ code: 129 });
    });
  });
}

interface Screen extends Omit<Terminal, 'write'> {
  write(text: string): Promise<void>;
  /** Resolves when the text was seen; fails after ten seconds with what was seen instead. */
  until(text: string): Promise<void>;
}

async function open(scene: Scene, script: string): Promise<Screen> {
  const terminal = await scene.driver.openTerminal(scene.box, sh(script), { cols: 100, rows: 30 });
  let seen = '';
  const decoder = new TextDecoder();
  const reader = (async () => {
    for await (const bytes of terminal.output) seen += decoder.decode(bytes, { stream: true });
  })();
  reader.catch(() => {});
  return {
    output: terminal.output,
    exited: terminal.exited,
    resize: (size) => terminal.resize(size),
    kill: (signal) => terminal.kill(signal),
    write: (text) => terminal.write(new TextEncoder().encode(text)),
    until: async (text) => {
      for (let i = 0; i < 500 && !seen.includes(text); i++) await Bun.sleep(20);
      if (!seen.includes(text))
        throw new Error(`${JSON.stringify(text)} not in ${JSON.stringify(seen.slice(-500))}`);
    },
  };
}
