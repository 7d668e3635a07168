import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../daemon/db/settings.ts';
import { sandboxCommand } from '../src/api/sandbox/command.ts';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import type { Client } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, run, until } from './support/scene.ts';
import { leftOf, NOTHING } from './support/traces.ts';

/** How often the daemon is killed in the midst of work, and how many sandboxes come and go each time. */
const CYCLES = Number(process.env.SVC_TEST_CRASH_CYCLES ?? 2);
const CROWD = Number(process.env.SVC_TEST_CRASH_CROWD ?? 12);
/** How many sandboxes run through a kill with a command that goes on printing. */
const RUNNING = Number(process.env.SVC_TEST_CRASH_RUNNING ?? 6);
const LINES = 80;
const MOST_MS = 60_000 + CYCLES * CROWD * 1_500 + RUNNING * 3_000;

/** Many of these run at once on a busy machine; none is about speed. */
setDefaultTimeout(60_000);

describe.each(driverCases)('a daemon on the $name driver that is killed', ({ name, env }) => {
  const quiet = { ...env, SVC_LOG_LEVEL: 'warn', SVC_SANDBOX_WARM: '1' };
  const dirs: string[] = [];
  afterAll(() => {
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  });

  test(
    'while sandboxes come and go keeps what it promised and leaves nothing behind',
    async () => {
      let daemon = await startDaemon({ env: quiet });
      dirs.push(daemon.dataDir);
      const promises = new Promised();
      for (let cycle = 0; cycle < CYCLES; cycle++) {
        const work = Promise.allSettled(Array.from({ length: CROWD }, () => comeAndGo(daemon, promises)));
        await Bun.sleep(Math.random() * CROWD * 30);
        await daemon.kill9();
        await work;
        daemon = await startDaemon({ env: quiet, dataDir: daemon.dataDir, apiKey: daemon.apiKey });
        await promises.check(clientOf(daemon));
      }
      await removeAll(clientOf(daemon));
      const instance = String(readSettings(join(daemon.dataDir, 'svc.db'))['instance.name']);
      await daemon.stop({ keep: true });
      expect(await leftOf(name, instance, daemon.dataDir)).toEqual(NOTHING);
    },
    MOST_MS,
  );

  test(
    'goes on with every running sandbox, and no byte of what commands print is lost',
    async () => {
      const first = await startDaemon({ env: quiet });
      dirs.push(first.dataDir);
      const before = clientOf(first);
      const boxes = await Promise.all(Array.from({ length: RUNNING }, () => newSandbox(before)));
      const script = `i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo line $i; sleep 0.1; done; exit 3`;
      const commands = await Promise.all(
        boxes.map(async (box) => ({ box, cmdId: (await run(before, box, script, { background: true })).id })),
      );
      await first.kill9();
      await Bun.sleep(500);
      const start = performance.now();
      const second = await startDaemon({ env: quiet, dataDir: first.dataDir, apiKey: first.apiKey });
      const after = clientOf(second);
      await Promise.all(
        boxes.map((sandboxId) => after.call(sandboxCommand.PingSandbox, { params: { sandboxId } })),
      );
      console.log(
        `${RUNNING} sandboxes reachable ${Math.round(performance.now() - start)} ms after the start`,
      );
      const { instances } = await after.call(sandboxLifecycle.ListSandboxInstances, {
        query: { limit: 500 },
      });
      expect(instances?.map(({ lifecycleState }) => lifecycleState)).toEqual(boxes.map(() => 'running'));
      const whole = Array.from({ length: LINES }, (_, i) => `line ${i + 1}\n`).join('');
      for (const { box, cmdId } of commands) {
        const params = { sandboxId: box, cmdId };
        const status = await until(async () => {
          const now = await after.call(sandboxCommand.GetCommandStatus, { params });
          return !now.running && now;
        }, MOST_MS);
        expect(status).toMatchObject({ exit_code: 3 });
        expect(await (await after.open(sandboxCommand.GetCommandLogs, { params })).text()).toBe(whole);
      }
      await removeAll(after);
      await second.stop({ keep: true });
    },
    MOST_MS,
  );
});

/** What the daemon has acknowledged: it holds after any crash. */
class Promised {
  readonly alive = new Set<string>();
  readonly gone = new Set<string>();

  async check(client: Client): Promise<void> {
    for (const sandboxId of this.alive) {
      const { instance } = await client.call(sandboxLifecycle.GetSandboxInstance, { params: { sandboxId } });
      expect([sandboxId, instance?.lifecycleState]).toEqual([sandboxId, 'running']);
      expect((await run(client, sandboxId, 'cat mark')).stdout).toBe(sandboxId);
    }
    for (const sandboxId of this.gone) {
      const { instance } = await client.call(sandboxLifecycle.GetSandboxInstance, { params: { sandboxId } });
      expect([sandboxId, instance?.lifecycleState]).toEqual([sandboxId, 'terminated']);
    }
  }
}

/** Makes a sandbox, writes into it, and ends half of them; remembers only what was answered. */
async function comeAndGo(daemon: TestDaemon, promised: Promised): Promise<void> {
  const client = clientOf(daemon);
  const id = await newSandbox(client);
  if ((await run(client, id, `printf %s ${id} > mark; sync mark 2>/dev/null || sync`)).code !== 0) return;
  if (Math.random() < 0.5) {
    promised.alive.add(id);
    return;
  }
  await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
  promised.gone.add(id);
}

async function removeAll(client: Client): Promise<void> {
  for (;;) {
    const { instances = [] } = await client.call(sandboxLifecycle.ListSandboxInstances, {
      query: { limit: 100 },
    });
    const living = instances.filter(({ lifecycleState }) => lifecycleState !== 'terminated');
    if (living.length === 0) return;
    await Promise.all(
      living.map(({ id = '' }) =>
        client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} }),
      ),
    );
  }
}
