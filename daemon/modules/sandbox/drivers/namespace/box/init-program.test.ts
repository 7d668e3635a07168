import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initProgram } from './init-program.ts';

describe('the init program', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-init-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test.each(['x64', 'arm64'])('is a small ELF file for %s whose entry is inside it', (architecture) => {
    const file = initProgram(architecture);
    const view = new DataView(file.buffer);
    expect(file.length).toBeLessThan(256);
    expect([...file.subarray(0, 4)]).toEqual([0x7f, 0x45, 0x4c, 0x46]);
    expect(view.getUint16(18, true)).toBe(architecture === 'x64' ? 62 : 183);
    expect(view.getBigUint64(24, true) - view.getBigUint64(80, true)).toBe(120n);
    expect(view.getBigUint64(96, true)).toBe(BigInt(file.length));
  });

  test('is refused for an architecture that it is not written for', () => {
    expect(() => initProgram('mips')).toThrow('mips');
  });

  test('on arm64 loads the address of its action and jumps back to its wait', () => {
    const file = initProgram('arm64');
    const words = new DataView(file.buffer, 120);
    const low = (words.getUint32(4, true) >>> 5) & 0xffff;
    const high = (words.getUint32(8, true) >>> 5) & 0xffff;
    expect(high * 0x10000 + low).toBe(0x400000 + file.length - 32);
    const jumpAt = 14;
    const offset = (words.getUint32(jumpAt * 4, true) << 6) >> 6;
    expect(jumpAt + offset).toBe(7);
  });

  test('waits, uses a few pages and ignores the end of its children', async () => {
    const path = join(dir, 'init');
    await writeFile(path, initProgram());
    await chmod(path, 0o755);
    const child = Bun.spawn([path], { stdio: ['ignore', 'ignore', 'ignore'] });
    await Bun.sleep(50);
    const status = await Bun.file(`/proc/${child.pid}/status`).text();
    child.kill('SIGKILL');
    await child.exited;
    expect(child.signalCode).toBe('SIGKILL');
    expect(Number(/VmRSS:\s*(\d+)/.exec(status)?.[1])).toBeLessThan(64);
    const ignored = BigInt(`0x${/SigIgn:\s*(\w+)/.exec(status)?.[1]}`);
    expect(ignored & (1n << 16n)).toBe(1n << 16n);
  });
});
