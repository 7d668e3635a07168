import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../host/run.ts';
import { CALL_AREA, CALL_HEADER, CALL_RECORD, callProgram } from './call-program.ts';

/** Programs for another architecture run where its emulator is installed. */
const EMULATOR = findProgram('qemu-aarch64-static') ?? findProgram('qemu-aarch64');
const WRITE = { x64: 1, arm64: 64 } as const;
const PREAD = { x64: 17, arm64: 67 } as const;
const MACHINES: Array<[architecture: 'x64' | 'arm64', emulator: string[]]> = [];
if (process.arch === 'x64' || process.arch === 'arm64') MACHINES.push([process.arch, []]);
if (process.arch !== 'arm64' && EMULATOR) MACHINES.push(['arm64', [EMULATOR]]);

interface Record {
  readonly number: number;
  readonly args: readonly number[];
  readonly bits?: number;
  readonly least?: number;
}

/** A request with records directly behind the header; 64 bytes of memory after them come back too. */
function request(records: readonly Record[], tailOf?: number): Uint8Array {
  const start = CALL_AREA.address + 64;
  const size = records.length * CALL_RECORD;
  const bytes = new Uint8Array(CALL_HEADER + size);
  const view = new DataView(bytes.buffer);
  const tail = tailOf === undefined ? 0 : start + tailOf * CALL_RECORD + 56;
  for (const [i, value] of [start, size, start, start + size, start, size, tail].entries())
    view.setBigUint64(8 * i, BigInt(value), true);
  for (const [i, { number, args, bits = 0, least = -(2 ** 60) }] of records.entries()) {
    const at = CALL_HEADER + i * CALL_RECORD;
    view.setUint32(at, number, true);
    view.setUint32(at + 4, bits, true);
    for (const [k, arg] of args.entries()) view.setBigInt64(at + 8 + 8 * k, BigInt(arg), true);
    view.setBigInt64(at + 56, BigInt(least), true);
  }
  return bytes;
}

describe.each(MACHINES)('the call program for %s', (architecture, emulator) => {
  let dir = '';
  let program = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-call-'));
    program = join(dir, 'call');
    await writeFile(program, callProgram(architecture));
    await chmod(program, 0o755);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  async function run(input: Uint8Array) {
    const child = Bun.spawn([...emulator, program], {
      stdin: new Blob([Uint8Array.from(input)]),
      stdout: 'pipe',
    });
    const out = new Uint8Array(await new Response(child.stdout).arrayBuffer());
    return { out, code: await child.exited };
  }
  const results = (out: Uint8Array, count: number) => {
    const view = new DataView(out.buffer);
    return Array.from({ length: count }, (_, i) => Number(view.getBigInt64(i * CALL_RECORD + 56, true)));
  };
  const bad = { number: WRITE[architecture], args: [99, CALL_AREA.address, 1] };

  test('makes the calls of a request in order and answers their results', async () => {
    const { out, code } = await run(request([bad, { ...bad, args: [1, CALL_AREA.address, 0] }]));
    expect(results(out, 2)).toEqual([-9, 0]);
    expect(code).toBe(0);
  });

  test('stops at a result that is too small', async () => {
    const { out } = await run(
      request([
        { ...bad, least: 0 },
        { ...bad, least: 7 },
      ]),
    );
    expect(results(out, 2)).toEqual([-9, 7]);
  });

  test('takes arguments from earlier results, each of the six', async () => {
    const start = CALL_AREA.address + 64;
    const result = start + 56;
    const first = { number: WRITE[architecture], args: [1, start, 0] };
    // The first result is 0: stdin for pread, which a pipe or a file without bytes answers -ESPIPE or 0.
    const second = {
      number: WRITE[architecture],
      args: [99, result, result, result, result, result],
      bits: 0b111110,
    };
    expect(results((await run(request([first, second]))).out, 2)).toEqual([0, -9]);
    const third = { number: PREAD[architecture], args: [result, start, 1, result], bits: 0b1001 };
    const { out } = await run(request([first, third]));
    expect(results(out, 2)[1]).toBeOneOf([-29, 0, 1]);
  });

  test('adds as many bytes to its answer as a call said', async () => {
    await writeFile(join(dir, 'text'), 'twelve bytes');
    const input = request([{ number: PREAD[architecture], args: [5, CALL_AREA.address + 128, 100, 0] }], 0);
    const child = Bun.spawn(
      ['/bin/sh', '-c', 'exec 5<"$0"; exec "$@"', join(dir, 'text'), ...emulator, program],
      {
        stdin: new Blob([Uint8Array.from(input)]),
        stdout: 'pipe',
      },
    );
    const out = await new Response(child.stdout).bytes();
    expect(new TextDecoder().decode(out.subarray(CALL_RECORD))).toBe('twelve bytes');
  });

  test('answers one request after the other, however they arrive', async () => {
    const child = Bun.spawn([...emulator, program], { stdin: 'pipe', stdout: 'pipe' });
    const input = Buffer.concat([request([bad]), request([bad, bad]), request([])]);
    for (const part of [
      input.subarray(0, 3),
      input.subarray(3, 60),
      input.subarray(60, 200),
      input.subarray(200),
    ]) {
      child.stdin.write(part);
      await child.stdin.flush();
      await Bun.sleep(5);
    }
    await child.stdin.end();
    expect((await new Response(child.stdout).bytes()).length).toBe(3 * CALL_RECORD);
    expect(await child.exited).toBe(0);
  });

  test('ends when its input ends inside a request', async () => {
    expect(await run(request([bad]).subarray(0, 70))).toEqual({ out: new Uint8Array(0), code: 0 });
  });
});

test('there is none for another architecture', () => {
  expect(() => callProgram('mips')).toThrow('mips');
});
