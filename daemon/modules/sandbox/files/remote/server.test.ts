import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Execution, OutputChunk } from '../../drivers/driver.ts';
import { Batch } from './batch.ts';
import { parseEntries } from './entries.ts';
import { RemoteFiles } from './files.ts';
import { CallServer } from './server.ts';

/** A process that answers each request as it is told to: one that was taken over by its user's other programs. */
function liar(
  answer: (request: Uint8Array) => readonly Uint8Array[] | 'silence',
): Execution & { killed: boolean } {
  const queue: OutputChunk[] = [];
  let wake = () => {};
  let isOver = false;
  const execution = {
    killed: false,
    output: {
      async *[Symbol.asyncIterator]() {
        for (;;) {
          const next = queue.shift();
          if (next) yield next;
          else if (isOver) return;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      },
    },
    exited: new Promise<{ code: number }>(() => {}),
    async write(bytes: Uint8Array) {
      const parts = answer(bytes);
      if (parts !== 'silence') for (const part of parts) queue.push({ channel: 'stdout', bytes: part });
      wake();
    },
    async endInput() {},
    async kill() {
      execution.killed = true;
      isOver = true;
      wake();
    },
  };
  return execution;
}

/** What the program itself would answer to a request of one call: the nonce and the record, with this result. */
function honest(request: Uint8Array, result: bigint, more = new Uint8Array(0)): Uint8Array {
  const view = new DataView(request.buffer, request.byteOffset, request.byteLength);
  const length = Number(view.getBigUint64(40, true));
  const answer = new Uint8Array(length + more.length);
  answer.set(request.subarray(request.length - 72));
  new DataView(answer.buffer).setBigInt64(8 + 56, result, true);
  answer.set(more, length);
  return answer;
}

const read = () => {
  const batch = new Batch();
  batch.call('pread', [3, batch.tail(100), 100, 0]);
  return batch;
};

describe('a process that lies', () => {
  test.each<[string, (request: Uint8Array) => readonly Uint8Array[] | 'silence']>([
    ['with another answer', () => [new Uint8Array(500)]],
    ['about how much it read', (request) => [honest(request, 101n)]],
    ['about how much it read, hugely', (request) => [honest(request, 2n ** 62n)]],
    ['by saying more', (request) => [honest(request, 0n, new Uint8Array(1))]],
    ['by saying nothing', () => 'silence'],
    ['by saying half of it', (request) => [honest(request, 5n, new Uint8Array(4))]],
  ])('%s is ended, and whoever asked is told', async (_, answer) => {
    const execution = liar(answer);
    const server = new CallServer(execution, 100);
    const outcome = await Promise.race([
      server.run(read()).then(
        // One that says more than it was asked is found out with what is too much.
        () => server.run(read()),
      ),
      Bun.sleep(2_000),
    ]).catch((error: unknown) => error);
    expect(outcome).toMatchObject({ code: 'unavailable' });
    expect(execution.killed).toBe(true);
    expect(server.isEnded).toBe(true);
    expect(await server.run(read()).catch((error: unknown) => error)).toMatchObject({ code: 'unavailable' });
  });

  test('in any way neither breaks the daemon nor keeps it waiting', async () => {
    const junk = fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(junk, fc.bigInt({ min: -200n, max: 300n }), async (parts, result) => {
        const server = new CallServer(
          liar((request) => [honest(request, result), ...parts]),
          50,
        );
        const files = new RemoteFiles(server);
        const outcome = await files.stat('/x').then(
          () => 'answered',
          (error: { code?: string }) => typeof error.code,
        );
        expect(['answered', 'string']).toContain(outcome);
        server.close();
      }),
      { numRuns: 50 },
    );
  });

  test('that talks without being asked is ended', async () => {
    const execution = liar((request) => [honest(request, 0n), new Uint8Array(10)]);
    const server = new CallServer(execution);
    await server.run(read());
    await Bun.sleep(1);
    expect(server.isEnded).toBe(true);
  });
});

test('any bytes are directory entries or are refused, and no name has a slash', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      try {
        for (const { name } of parseEntries(bytes)) {
          expect(name).not.toBe('');
          expect(name).not.toInclude('/');
          expect(name).not.toInclude('\0');
        }
      } catch (error) {
        expect(error).toMatchObject({ code: 'unavailable' });
      }
    }),
  );
});
