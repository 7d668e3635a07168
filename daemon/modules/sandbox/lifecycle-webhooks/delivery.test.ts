import { afterEach, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Events that are recorded while everything goes wrong. */
const EVENTS = Number(process.env.SVC_TEST_DELIVERIES ?? 400);
/** Times that the daemon is ended without warning. */
const KILLS = Math.min(Math.max(Math.round(EVENTS / 250), 3), 40);
const TIMEOUT_MS = 60_000 + EVENTS * 60;

interface Said {
  readonly port?: number;
  readonly recorded?: string;
  readonly waiting?: number;
  readonly accepted?: string;
  readonly body?: string;
  readonly signature?: string;
}

const dir = mkdtempSync(join(tmpdir(), 'svc-deliveries-'));
const children = new Set<Bun.Subprocess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

test(
  `${EVENTS} events reach a receiver in trouble, whatever happens to the daemon`,
  async () => {
    const recorded: string[] = [];
    const accepted = new Map<string, string>();
    let isForged = false;
    const hear = ({ accepted: id, body = '', signature }: Said) => {
      if (id === undefined) return;
      accepted.set(JSON.parse(body).sandbox_id, id);
      isForged ||= signature !== `sha256=${createHmac('sha256', 'secret').update(body).digest('hex')}`;
    };
    let receiver = await start('receiver.ts', ['0', 'faulty'], hear);
    const port = String(receiver.port);
    const url = `http://127.0.0.1:${port}/hook?a=b`;
    let waiting = Number.POSITIVE_INFINITY;
    const hearSender = (said: Said) => {
      if (said.recorded !== undefined) recorded.push(said.recorded);
      waiting = said.waiting ?? waiting;
    };

    for (let life = 0; life < KILLS; life++) {
      const goal = Math.ceil((EVENTS * (life + 1)) / KILLS);
      const sender = await start('sender.ts', [join(dir, 'svc.db'), url, String(EVENTS)], hearSender);
      while (recorded.length < goal) await Bun.sleep(2);
      await sender.end();
      if (life === 1) {
        await receiver.end();
        const blind = await start('sender.ts', [join(dir, 'svc.db'), url, '0'], hearSender);
        await Bun.sleep(100);
        await blind.end();
        receiver = await start('receiver.ts', [port, 'healthy'], hear);
      }
      if (life === 8) {
        await receiver.end();
        receiver = await start('receiver.ts', [port, 'faulty'], hear);
      }
    }
    waiting = Number.POSITIVE_INFINITY;
    const last = await start('sender.ts', [join(dir, 'svc.db'), url, '0'], hearSender);
    while (waiting > 0) await Bun.sleep(50);
    await last.end();

    const lost = recorded.filter((id) => !accepted.has(id));
    console.log(`deliveries: ${recorded.length} recorded, ${KILLS} kills, ${lost.length} lost`);
    expect(recorded.length).toBeGreaterThanOrEqual(EVENTS);
    expect(lost).toEqual([]);
    expect(new Set(accepted.values()).size).toBe(accepted.size);
    expect(isForged).toBe(false);
  },
  TIMEOUT_MS,
);

/** Starts a script of the tests, waits for its first line, and passes on what it says until it is killed. */
async function start(script: string, args: readonly string[], hear: (said: Said) => void) {
  const path = join(import.meta.dir, 'testing', script);
  const child = Bun.spawn([process.execPath, path, ...args], { stdout: 'pipe', stderr: 'inherit' });
  children.add(child);
  const ready = Promise.withResolvers<number>();
  const reading = (async () => {
    let rest = '';
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const said of lines.map((line) => JSON.parse(line) as Said)) {
        if (said.port !== undefined) ready.resolve(said.port);
        hear(said);
      }
    }
    ready.reject(new Error(`${script} ended`));
  })();
  ready.promise.catch(() => undefined);
  return {
    port: await ready.promise,
    async end() {
      child.kill('SIGKILL');
      await child.exited;
      await reading;
      children.delete(child);
    },
  };
}
