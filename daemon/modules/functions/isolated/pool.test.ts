import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { AppError } from '../../../../src/errors/app-error.ts';
import { silentLog } from '../../../log/log.ts';
import type { Execution, OutputChunk, OwnSandboxes } from '../../sandbox/index.ts';
import { Pool } from './pool.ts';

const caller = { tenant: 'org_a', role: 'member', actor: 'key_a', via: 'api-key' } as const;
const MOST = 3;

/** Sandboxes whose program answers what it is asked after a while; counts what is there at once. */
function makeHost() {
  const living = new Set<string>();
  const figures = { most: 0, made: 0 };
  const own: OwnSandboxes = {
    driver: 'namespace',
    async create() {
      const id = `sbx_${figures.made++}`;
      living.add(id);
      figures.most = Math.max(figures.most, living.size);
      return id;
    },
    find: () => undefined,
    start: async () => program(),
    async terminate(_, id) {
      await Bun.sleep(1);
      living.delete(id);
    },
    probe: async () => ({ usable: true, findings: [] }),
  };
  return { own, living, figures };
}

function program(): Execution {
  const end = Promise.withResolvers<{ code: number }>();
  const chunks: OutputChunk[] = [];
  let wake = Promise.withResolvers<void>();
  let isOver = false;
  const say = (chunk: OutputChunk) => {
    chunks.push(chunk);
    wake.resolve();
  };
  async function* output() {
    for (;;) {
      const chunk = chunks.shift();
      if (chunk) yield chunk;
      else if (isOver) return;
      else {
        await wake.promise;
        wake = Promise.withResolvers();
      }
    }
  }
  return {
    output: output(),
    exited: end.promise,
    async write(bytes) {
      const { op, args, mark } = JSON.parse(Buffer.from(bytes).toString());
      await Bun.sleep(op === 'load' ? 1 : args.ms);
      say({ channel: 'stderr', bytes: Buffer.from(mark) });
      say({ channel: 'stdout', bytes: Buffer.from(`${JSON.stringify({ result: args?.n ?? null })}\n`) });
    },
    endInput: async () => {},
    async kill() {
      isOver = true;
      wake.resolve();
      end.resolve({ code: 137 });
    },
  };
}

test('whoever calls, leaves or waits, there are never more sandboxes than that, and everybody is answered', async () => {
  const step = fc.record({
    code: fc.constantFrom('one', 'two', 'three', 'four', 'five'),
    ms: fc.nat(4),
    leaveAfter: fc.option(fc.nat(4)),
    retire: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const { own, living, figures } = makeHost();
      const written = new Set<string>();
      const ledger = {
        add: (_: string, key: string) => void written.add(key),
        remove: (_: string, key: string) => void written.delete(key),
      };
      const pool = new Pool({ own, log: silentLog, ledger, image: 'host', most: MOST, idleMs: 60_000 });
      const answers = steps.map(async ({ code, ms, leaveAfter, retire }, n) => {
        const leaving = new AbortController();
        if (leaveAfter !== null) setTimeout(() => leaving.abort(), leaveAfter);
        const whole = { functionId: code, functionName: code, runtime: 'nodejs', code, memoryMb: 64 };
        const call = pool.call(caller, whole, { n, ms }, 5_000, leaving.signal);
        if (retire) pool.retire(caller.tenant, code);
        return call.catch((error) => {
          expect(error).toBeInstanceOf(AppError);
          expect([error.code, leaveAfter === null]).toEqual(['cancelled', false]);
          return undefined;
        });
      });
      for (const [n, answer] of (await Promise.all(answers)).entries())
        if (answer) expect(answer).toMatchObject({ status: 'success', result: n });
      expect(figures.most).toBeLessThanOrEqual(MOST);
      await pool.close();
      expect([living.size, written.size]).toEqual([0, 0]);
    }),
    { numRuns: 60 },
  );
}, 60_000);

test('code that is called again finds its sandbox', async () => {
  const { own, figures } = makeHost();
  const ledger = { add: () => {}, remove: () => {} };
  const pool = new Pool({ own, log: silentLog, ledger, image: 'host', most: MOST, idleMs: 60_000 });
  const code = { functionId: 'fn_1', functionName: 'one', runtime: 'nodejs', code: 'x', memoryMb: 64 };
  const signal = new AbortController().signal;
  for (let n = 0; n < 5; n++) await pool.call(caller, code, { n, ms: 0 }, 1_000, signal);
  expect(figures.made).toBe(1);
  await pool.call(caller, { ...code, code: 'y' }, { n: 9, ms: 0 }, 1_000, signal);
  expect(figures.made).toBe(2);
  await pool.close();
});
