import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyedLock } from '../box/keyed-lock.ts';
import { Channel } from './channel.ts';
import { codeOf, exitOf } from './exit.ts';

describe('the end of a command', () => {
  let log = '';
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-exit-'));
    log = join(dir, 'log');
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));
  const error = (msg: string) =>
    `{"msg":"old","level":"info"}\n${JSON.stringify({ msg, level: 'error', time: 'x' })}\n`;

  test.each<[number, string, object]>([
    [0, '', { code: 0 }],
    [255, '', { code: 255 }],
    [1, '', { code: 1 }],
    [127, '', { code: 127 }],
    [137, '', { code: 137, signal: 'SIGKILL' }],
    [130, '', { code: 130, signal: 'SIGINT' }],
    [128, '', { code: 128 }],
    [250, '', { code: 250 }],
    [255, error('executable file `x` not found in $PATH: No such file or directory'), { code: 127 }],
    [255, error('open executable: Permission denied'), { code: 126 }],
    [255, error('chdir `/nono`: No such file or directory'), { code: 126 }],
    [
      1,
      error('exec failed: unable to start container process: exec: "x": executable file not found in $PATH'),
      { code: 127 },
    ],
    [0, error('something odd that did not matter'), { code: 0 }],
  ])('with code %i and the log %j', async (code, text, expected) => {
    await writeFile(log, text);
    const { startError, ...exit } = exitOf(code, log);
    expect(exit).toEqual(expected as typeof exit);
    expect(startError !== undefined).toBe(text !== '' && code !== 0);
  });

  test('is 128 and the number when a signal ended it', () => {
    expect(codeOf({ exitCode: null, signalCode: 'SIGKILL' })).toBe(137);
    expect(codeOf({ exitCode: null, signalCode: 64 })).toBe(192);
    expect(codeOf({ exitCode: 3, signalCode: null })).toBe(3);
  });
});

describe('a channel', () => {
  test('holds its producer back until the reader asks for more', async () => {
    const channel = new Channel<number>();
    let sent = 0;
    const producer = (async () => {
      for (let i = 0; i < 5; i++) {
        await channel.push(i);
        sent = i + 1;
      }
      channel.end();
    })();
    await Bun.sleep(5);
    expect(sent).toBe(0);
    const got: number[] = [];
    for await (const item of channel) {
      got.push(item);
      expect(sent).toBeLessThanOrEqual(got.length);
    }
    await producer;
    expect(got).toEqual([0, 1, 2, 3, 4]);
  });

  test('lets its producers go when the reader leaves', async () => {
    let left = 0;
    const channel = new Channel<number>(() => left++);
    const producer = Promise.all([channel.push(1), channel.push(2)]);
    for await (const _ of channel) break;
    await producer;
    await channel.push(3);
    expect(left).toBe(1);
  });

  test('takes in what is left when the command is over, up to a bound', async () => {
    const channel = new Channel<number>();
    channel.relax();
    for (let i = 0; i < 63; i++) await channel.push(i);
    expect(await Promise.race([channel.push(63).then(() => 'taken'), Bun.sleep(20)])).toBeUndefined();
  });
});

describe('a lock', () => {
  test('lets one task at a time work on a key, in order, also after a failure', async () => {
    const lock = new KeyedLock();
    const log: string[] = [];
    const task =
      (name: string, ms: number, fails = false) =>
      async () => {
        log.push(`+${name}`);
        await Bun.sleep(ms);
        log.push(`-${name}`);
        if (fails) throw new Error(name);
      };
    const all = await Promise.allSettled([
      lock.run('k', task('a', 20, true)),
      lock.run('k', task('b', 1)),
      lock.run('other', task('c', 1)),
    ]);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(log.filter((it) => !it.endsWith('c'))).toEqual(['+a', '-a', '+b', '-b']);
    expect(log.indexOf('-c')).toBeLessThan(log.indexOf('-a'));
  });
});
