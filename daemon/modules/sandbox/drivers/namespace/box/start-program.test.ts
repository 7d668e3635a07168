import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { closeSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { openPseudoTerminal } from '../../host/pseudo-terminal.ts';
import { findProgram } from '../../host/run.ts';
import { type Order, orderBytes, startProgram } from './start-program.ts';

const PATH = 'PATH=/nonexistent:/usr/bin:/bin';

/** Programs for another architecture run where its emulator is installed. */
const EMULATOR = findProgram('qemu-aarch64-static') ?? findProgram('qemu-aarch64');
const MACHINES: Array<[architecture: string, emulator: string[]]> = [[process.arch, []]];
if (process.arch !== 'arm64' && EMULATOR) MACHINES.push(['arm64', [EMULATOR]]);

describe.each(MACHINES)('the start program for %s', (architecture, emulator) => {
  let dir = '';
  let program = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-start-'));
    program = join(dir, 'start');
    await writeFile(program, startProgram(architecture));
    await chmod(program, 0o755);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  /** Runs it under a shell that gives it its two descriptors. */
  async function run(bytes: Uint8Array) {
    const [order, status] = [join(dir, 'order'), join(dir, 'status')];
    await writeFile(order, bytes);
    await writeFile(status, '');
    const script = 'exec 3<"$1" 4>"$2"; shift 2; exec "$@"';
    const child = Bun.spawn(['/bin/sh', '-c', script, 'sh', order, status, ...emulator, program], {
      stdout: 'pipe',
      stdin: 'ignore',
    });
    const stdout = await new Response(child.stdout).text();
    await child.exited;
    const said = [...new Uint8Array(await Bun.file(status).arrayBuffer())];
    return { stdout, code: child.exitCode, said };
  }

  const orderOf = (order: Partial<Order>) => {
    const bytes = orderBytes({ cwd: '/', argv: ['true'], env: [PATH], ...order });
    if (!bytes) throw new Error('too large');
    return bytes;
  };

  test('becomes the program, there, with its words and its environment alone', async () => {
    const argv = [
      'sh',
      '-c',
      'pwd; echo "$0|$1|$A"; env | cut -d= -f1 | sort | tr "\\n" " "; ls /proc/self/fd | tr "\\n" " "',
      'zero',
      'ö ne',
    ];
    const { stdout, code, said } = await run(orderOf({ cwd: '/usr/bin', argv, env: [PATH, 'A=x=y'] }));
    const [cwd, words, names, fds] = stdout.split('\n').join('\n').split('\n');
    expect([cwd, words]).toEqual(['/usr/bin', 'zero|ö ne|x=y']);
    expect(names).toMatch(/^A (OLDPWD )?PATH PWD (_ )?0 1 2 /);
    expect(fds ?? '').toBe('');
    expect({ code, said }).toEqual({ code: 0, said: [] });
  });

  test.each<[string, Partial<Order>, number[]]>([
    ['a directory that is not there', { cwd: '/no/such' }, [2, 0]],
    ['a directory that is a file', { cwd: '/etc/passwd' }, [20, 0]],
    ['a program that is not there', { argv: ['/no/such'] }, [2, 1]],
    ['a program that is in no folder of PATH', { argv: ['no-such-program'] }, [2, 1]],
    ['a file that is no program', { argv: ['/etc/passwd'] }, [13, 1]],
    ['a directory as a program', { argv: ['/usr'] }, [13, 1]],
    ['no word at all', { argv: [''] }, [2, 1]],
    ['no PATH', { env: [] }, [2, 1]],
  ])('tells why when it is given %s', async (_, order, said) => {
    expect(await run(orderOf(order))).toEqual({ stdout: '', code: 127, said });
  });

  test.skipIf(process.getuid?.() !== 0)('takes a terminal as its own', async () => {
    const { master, path } = openPseudoTerminal(process.pid, 0, 0, { rows: 12, cols: 34 });
    const output = (async () => {
      let text = '';
      try {
        for await (const bytes of Bun.file(master).stream()) text += new TextDecoder().decode(bytes);
      } catch {
        // Nobody has the other end any more.
      }
      return text;
    })();
    const argv = [
      'sh',
      '-c',
      'tty; stty size; echo to the terminal >/dev/tty; ls /proc/self/fd | tr "\\n" " "',
    ];
    const { stdout, code, said } = await run(orderOf({ argv, terminal: path }));
    expect({ stdout, code, said }).toEqual({ stdout: '', code: 0, said: [] });
    expect((await output).split('\r\n')).toEqual([
      path,
      '12 34',
      'to the terminal',
      expect.stringMatching(/^0 1 2 /),
    ]);
    closeSync(master);
    expect((await run(orderOf({ terminal: '/dev/pts/4444' }))).said).toEqual([2, 2]);
  });

  test('ends when it is told nothing', async () => {
    expect(await run(new Uint8Array(0))).toEqual({ stdout: '', code: 0, said: [] });
  });

  test('takes an order of a megabyte, and refuses one that does not fit', async () => {
    const env = [PATH, ...Array.from({ length: 10 }, (_, i) => `V${i}=${'x'.repeat(100_000)}`)];
    const argv = ['sh', '-c', 'printf %s "$V0$V9" | wc -c'];
    expect((await run(orderOf({ argv, env }))).stdout).toBe('200000\n');
    expect(orderBytes({ cwd: '/', argv: ['true'], env: ['x'.repeat(5_000_000)] })).toBeUndefined();
  });
});

test('an order holds every word at the address that it gives', () => {
  const text = fc.string({ unit: 'grapheme' }).map((it) => it.replaceAll('\0', ''));
  fc.assert(
    fc.property(text, fc.array(text, { minLength: 1 }), fc.array(text), (cwd, argv, env) => {
      const bytes = orderBytes({ cwd, argv, env });
      if (!bytes) return;
      const view = new DataView(bytes.buffer);
      const at = (offset: number) => Number(view.getBigUint64(offset, true)) - 0x10000000;
      const read = (offset: number) =>
        new TextDecoder().decode(bytes.subarray(offset, bytes.indexOf(0, offset)));
      const list = (offset: number) => {
        const words: string[] = [];
        for (let i = offset; view.getBigUint64(i, true) !== 0n; i += 8) words.push(read(at(i)));
        return words;
      };
      const plain = (it: string) => new TextDecoder().decode(new TextEncoder().encode(it));
      expect([read(at(0)), list(at(8)), list(at(16))]).toEqual([plain(cwd), argv.map(plain), env.map(plain)]);
    }),
  );
});
