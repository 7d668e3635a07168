import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { sandboxCommand } from '../src/api/sandbox/command.ts';
import { sandboxHistory } from '../src/api/sandbox/history.ts';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { sandboxMetrics } from '../src/api/sandbox/metrics.ts';
import type { Client } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, run, until } from './support/scene.ts';

/** Megabytes of output that one command prints in the flood test. */
const FLOOD_MB = Number(process.env.SVC_TEST_FLOOD_MB ?? 100);

test('a driver can be tested here', () => {
  expect(driverCases.length).toBeGreaterThan(0);
});

/** Many of these run at once on a busy machine; none is about speed. */
setDefaultTimeout(60_000);

describe.each(driverCases)('sandboxes on the $name driver', ({ name, env }) => {
  let daemon: TestDaemon;
  let client: Client;
  let id: string;
  beforeAll(async () => {
    daemon = await startDaemon({ env });
    client = clientOf(daemon);
    id = await newSandbox(client, { name: 'shared' });
  });
  afterAll(async () => {
    for (const { id } of (await client.call(sandboxLifecycle.ListSandboxInstances, { query: { limit: 500 } }))
      .instances ?? []) {
      await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id ?? '' }, body: {} });
    }
    await daemon.stop();
  });

  const get = async (sandboxId: string) =>
    (await client.call(sandboxLifecycle.GetSandboxInstance, { params: { sandboxId } })).instance;
  const refused = async (attempt: Promise<unknown>) => {
    const error = await attempt.then(
      () => undefined,
      (error: unknown) => error,
    );
    return error as { http: number; rpc: number; message: string };
  };

  test('a new sandbox runs on the driver, under its id and its name', async () => {
    const instance = await get('shared');
    expect(instance).toMatchObject({
      id,
      name: 'shared',
      backend: name,
      status: 'SANDBOX_STATUS_RUNNING',
      lifecycleState: 'running',
    });
    expect(instance?.expiresAt).toBeString();
  });

  describe('a command', () => {
    test('answers what it prints, apart, and ends with execution_complete', async () => {
      const result = await run(client, id, 'echo out; echo err >&2');
      expect(result).toMatchObject({ stdout: 'out\n', stderr: 'err\n', code: 0 });
      expect(result.types[0]).toBe('init');
      expect(result.types.at(-1)).toBe('execution_complete');
    });

    test.each([
      ['exit 3', 3],
      ['kill -9 $$', 137],
      ['no-such-program', 127],
      ['false', 1],
    ])('%s ends with an error event whose evalue is %d', async (command, code) => {
      const { last, types } = await run(client, id, command);
      expect(last.error?.evalue).toBe(String(code));
      expect(types).not.toContain('execution_complete');
    });

    test('runs where, with what and as whom it is told', async () => {
      expect(
        (await run(client, id, 'pwd; echo $COLOR; id -u', { cwd: '/tmp', envs: { COLOR: 'blue' }, uid: 0 }))
          .stdout,
      ).toBe('/tmp\nblue\n0\n');
      expect((await run(client, id, 'pwd; id -u')).stdout).toBe('/workspace\n1000\n');
    });

    test('keeps text whole across chunks', async () => {
      const { stdout } = await run(
        client,
        id,
        'for i in 1 2 3 4; do printf "\\342\\202"; sleep 0.02; printf "\\254"; done',
      );
      expect(stdout).toBe('€€€€');
    });

    test('that takes too long is killed with all it started, and says so', async () => {
      const started = Date.now();
      const { last } = await run(client, id, '(setsid sleep 600 &) ; sleep 600', { timeout: 500 });
      expect(Date.now() - started).toBeLessThan(10_000);
      expect(last.error).toMatchObject({ ename: 'CommandTimeout', evalue: '137' });
      expect((await run(client, id, 'ps -eo args 2>/dev/null || ps')).stdout).not.toContain('sleep 600');
    });

    test('whose reader leaves is ended', async () => {
      const controller = new AbortController();
      const stream = client.stream(
        sandboxCommand.ExecuteCommand,
        { params: { sandboxId: id }, body: { command: 'sleep 601' } },
        { signal: controller.signal },
      );
      const first = await stream.next();
      const { text: cmdId } = JSON.parse(first.value?.data ?? '{}');
      controller.abort();
      await stream.next().catch(() => undefined);
      await until(
        async () =>
          !(await client.call(sandboxCommand.GetCommandStatus, { params: { sandboxId: id, cmdId } })).running,
      );
    });

    test('can be interrupted', async () => {
      const result = run(
        client,
        id,
        'trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.05; done',
      );
      const executions = () =>
        client.call(sandboxHistory.ListSandboxExecutions, { params: { sandboxId: id }, query: { limit: 1 } });
      const cmdId = await until(
        async () => (await executions()).executions?.find((one) => one.command?.includes('caught'))?.id,
      );
      await Bun.sleep(300);
      await client.call(sandboxCommand.InterruptCommand, { params: { sandboxId: id }, query: { id: cmdId } });
      expect(await result).toMatchObject({ stdout: expect.stringContaining('caught'), code: 7 });
    });

    test(`prints ${FLOOD_MB} MB without filling the daemon's memory`, async () => {
      let bytes = 0;
      const stream = client.stream(sandboxCommand.ExecuteCommand, {
        params: { sandboxId: id },
        body: { command: `head -c ${FLOOD_MB * 1024 * 1024} /dev/zero | tr '\\0' x` },
      });
      let peak = 0;
      for await (const { data } of stream) {
        const message = JSON.parse(data);
        if (message.type !== 'stdout') continue;
        bytes += message.text.length;
        if (bytes % (8 * 1024 * 1024) < 70_000) peak = Math.max(peak, residentMb(daemon.pid));
      }
      expect(bytes).toBe(FLOOD_MB * 1024 * 1024);
      expect(peak).toBeLessThan(400);
    });

    test('keeps bytes that are no text, in its log', async () => {
      const { id: cmdId } = await run(client, id, 'printf "\\000\\377\\001"');
      const response = await client.open(sandboxCommand.GetCommandLogs, { params: { sandboxId: id, cmdId } });
      expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 255, 1]);
    });

    test('fifty at once each get their own answer', async () => {
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, i) => run(client, id, `echo number ${i}; exit ${i}`)),
      );
      expect(results.map(({ stdout, code }) => [stdout, code])).toEqual(
        Array.from({ length: 50 }, (_, i) => [`number ${i}\n`, i]),
      );
    });
  });

  describe('a background command', () => {
    const start = async (command: string) => (await run(client, id, command, { background: true })).id;

    test('goes on after the stream has ended, and its log can be followed by a cursor', async () => {
      const cmdId = await start('echo one; sleep 0.3; echo two >&2; exit 5');
      const read = async (cursor: string) => {
        const response = await client.open(sandboxCommand.GetCommandLogs, {
          params: { sandboxId: id, cmdId },
          query: { cursor },
        });
        return {
          text: await response.text(),
          next: response.headers.get('EXECD-COMMANDS-TAIL-CURSOR') ?? '',
        };
      };
      const first = await until(async () => {
        const part = await read('0');
        return part.text.includes('one') && part;
      });
      const status = await until(async () => {
        const now = await client.call(sandboxCommand.GetCommandStatus, { params: { sandboxId: id, cmdId } });
        return !now.running && now;
      });
      expect(status).toMatchObject({ exit_code: 5, content: expect.stringContaining('echo one') });
      expect((await read(first.next)).text).toBe(first.text.includes('two') ? '' : 'two\n');
      expect((await read('0')).text).toBe('one\ntwo\n');
    });

    test('can be interrupted', async () => {
      const cmdId = await start('sleep 602');
      await client.call(sandboxCommand.InterruptCommand, { params: { sandboxId: id }, query: { id: cmdId } });
      await until(
        async () =>
          !(await client.call(sandboxCommand.GetCommandStatus, { params: { sandboxId: id, cmdId } })).running,
      );
    });
  });

  describe('its life', () => {
    test('stop keeps the files, revive brings them back, terminate is for good', async () => {
      const sandboxId = await newSandbox(client, { labels: { team: 'web' } });
      await run(client, sandboxId, 'echo kept > /workspace/note');
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId }, body: {} });
      expect(await get(sandboxId)).toMatchObject({
        lifecycleState: 'sleeping',
        status: 'SANDBOX_STATUS_STOPPED',
      });
      expect(await refused(run(client, sandboxId, 'true'))).toMatchObject({ http: 409, rpc: 9 });
      expect(
        await refused(client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId }, body: {} })),
      ).toMatchObject({ http: 409 });
      const { instance } = await client.call(sandboxLifecycle.ReviveSandbox, {
        params: { sandboxId },
        body: {},
      });
      expect(instance).toMatchObject({ lifecycleState: 'running' });
      expect((await run(client, sandboxId, 'cat /workspace/note')).stdout).toBe('kept\n');
      await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
      expect(await get(sandboxId)).toMatchObject({ lifecycleState: 'terminated' });
      expect(
        await refused(client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId }, body: {} })),
      ).toMatchObject({ http: 409 });
    });

    test('recreate makes a new one with the configuration of the old one', async () => {
      const sandboxId = await newSandbox(client, { name: 'again', envVars: { A: 'b' }, labels: { x: 'y' } });
      await client.call(sandboxLifecycle.DestroySandbox, { params: { sessionId: sandboxId } });
      const made = await client.call(sandboxLifecycle.RecreateSandbox, { body: { sandboxId } });
      expect(made).toMatchObject({ name: 'again' });
      expect(made.id).not.toBe(sandboxId);
      expect((await run(client, 'again', 'echo $A')).stdout).toBe('b\n');
    });

    test('its time runs out, unless it is renewed', async () => {
      const short = await newSandbox(client, { timeoutSeconds: 2 });
      const renewed = await newSandbox(client, { timeoutSeconds: 2 });
      await client.call(sandboxLifecycle.RenewExpiration, {
        params: { sandboxId: renewed },
        body: { extra_seconds: 100 },
      });
      await until(async () => (await get(short))?.lifecycleState === 'sleeping');
      expect(await get(short)).toMatchObject({ destroyReason: 'expired' });
      expect(await get(renewed)).toMatchObject({ lifecycleState: 'running' });
    });

    test('autoDeleteAfterDays 0 deletes it on stop', async () => {
      const sandboxId = await newSandbox(client, { autoDeleteAfterDays: 0 });
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId }, body: {} });
      expect(await get(sandboxId)).toMatchObject({ lifecycleState: 'terminated' });
    });

    test('what happened to it and what ran in it can be read', async () => {
      const sandboxId = await newSandbox(client);
      await run(client, sandboxId, 'echo history');
      const { events } = await client.call(sandboxHistory.ListSandboxEvents, { params: { sandboxId } });
      expect(events?.map((event) => event.eventType).reverse()).toEqual([
        'created',
        'running',
        'command.finished',
      ]);
      const { executions } = await client.call(sandboxHistory.ListSandboxExecutions, {
        params: { sandboxId },
      });
      expect(executions).toEqual([
        expect.objectContaining({
          command: 'echo history',
          exitCode: 0,
          stdout: 'history\n',
          timedOut: false,
        }),
      ]);
    });
  });

  test('lists filter by label, and overview and stats count', async () => {
    const sandboxId = await newSandbox(client, { labels: { tier: 'gold', 'a.b': 'c=d' } });
    const byLabel = (label_filter: string) =>
      client.call(sandboxLifecycle.ListSandboxInstances, { query: { label_filter } });
    expect((await byLabel('tier=gold')).instances?.map((one) => one.id)).toEqual([sandboxId]);
    expect((await byLabel('tier=gold,a.b=c=d')).total).toBe(1);
    expect((await byLabel('tier=lead')).total).toBe(0);
    const { overview } = await client.call(sandboxLifecycle.GetSandboxOverview, {});
    expect(overview).toMatchObject({ backend: name, healthy: true });
    expect(overview?.runningInstances).toBeGreaterThan(1);
    const busy = run(client, sandboxId, 'while :; do :; done', { timeout: 1_500 });
    await Bun.sleep(400);
    const { stats } = await client.call(sandboxMetrics.GetSandboxStats, { params: { sessionId: sandboxId } });
    expect(stats?.pids).toBeGreaterThan(1);
    expect(Number(stats?.memoryUsage)).toBeGreaterThan(0);
    expect(Number(stats?.memoryLimit)).toBe(512 * 1024 * 1024);
    expect(stats?.cpuPercent).toBeGreaterThan(10);
    await busy;
  });

  test('two identical creates with one Idempotency-Key make one sandbox', async () => {
    const create = () =>
      client.call(
        sandboxLifecycle.CreateSandbox,
        { body: { labels: { once: 'yes' } } },
        { idempotencyKey: 'k-1' },
      );
    const [first, second] = await Promise.all([create(), create()]);
    expect(second.id).toBe(first.id);
    expect((await create()).id).toBe(first.id);
    expect(
      (await client.call(sandboxLifecycle.ListSandboxInstances, { query: { label_filter: 'once=yes' } }))
        .total,
    ).toBe(1);
  });

  describe('bad input names the field and makes nothing', () => {
    test.each<[Record<string, unknown>, number, string]>([
      [{ cpuLimit: 'two' }, 400, 'cpuLimit'],
      [{ cpuLimit: 1000 }, 400, 'cpuLimit'],
      [{ memoryMb: '1' }, 400, 'memoryMb'],
      [{ name: '../etc' }, 400, 'name'],
      [{ name: 'shared' }, 409, 'shared'],
      [{ networkMode: 'sometimes' }, 400, 'networkMode'],
      [{ envVars: { 'A-B': 'x' } }, 400, 'envVars.A-B'],
      [{ templateId: 'cobol' }, 404, 'cobol'],
      [{ nonsense: 1 }, 400, 'nonsense'],
      [{ computerUse: true }, 501, 'computerUse'],
      [{ tenantId: 'org_other' }, 404, 'tenant'],
    ])('%j', async (body, http, words) => {
      const before = (await client.call(sandboxLifecycle.ListSandboxInstances, {})).total;
      const error = await refused(client.call(sandboxLifecycle.CreateSandbox, { body }));
      expect(error.http).toBe(http);
      expect(error.message).toContain(words);
      expect((await client.call(sandboxLifecycle.ListSandboxInstances, {})).total).toBe(before);
    });

    test('an unknown sandbox or command is 404', async () => {
      expect(await refused(run(client, 'sbx_nobody', 'true'))).toMatchObject({ http: 404, rpc: 5 });
      expect(
        await refused(
          client.call(sandboxCommand.GetCommandStatus, { params: { sandboxId: id, cmdId: 'cmd_x' } }),
        ),
      ).toMatchObject({ http: 404 });
    });
  });

  test('a terminal takes input, resizes and answers its exit code; pipes keep their channels', async () => {
    const terminal = await openTerminal(client, id, {
      cols: 80,
      rows: 24,
      command: 'stty size; read line; stty size; echo "got $line"; exit 4',
    });
    await until(() => terminal.text().includes('24 80'));
    terminal.control({ type: 'resize', cols: 100, rows: 30 });
    await Bun.sleep(200);
    terminal.send('hello\n');
    expect(await terminal.exit).toMatchObject({ type: 'exit', code: 4 });
    expect(terminal.text()).toContain('30 100');
    expect(terminal.text()).toContain('got hello');
    const pipe = await openTerminal(client, id, { tty: false, command: 'cat; echo done >&2; exit 6' });
    pipe.send('\u0000\u0001binary');
    pipe.control({ type: 'eof' });
    expect(await pipe.exit).toMatchObject({ code: 6 });
    expect([pipe.text(1), pipe.text(2)]).toEqual(['\u0000\u0001binary', 'done\n']);
  });
});

describe.each(driverCases)('a daemon on the $name driver that ends', ({ env }) => {
  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'with %s leaves its sandboxes running, and the next one adopts them',
    async (signal) => {
      const first = await startDaemon({ env });
      const before = clientOf(first);
      const [kept, slept] = [
        await newSandbox(before, { name: 'kept' }),
        await newSandbox(before, { name: 'slept' }),
      ];
      await run(before, kept, 'echo $$ > /workspace/mark');
      await before.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: slept }, body: {} });
      const { id: cmdId } = await run(
        before,
        kept,
        'for i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; sleep 0.2; done; exit 9',
        { background: true },
      );
      await Bun.sleep(300);
      await (signal === 'SIGKILL' ? first.kill9() : first.stop({ keep: true }));
      await Bun.sleep(500);
      const second = await startDaemon({ env, dataDir: first.dataDir, apiKey: first.apiKey });
      const after = clientOf(second);
      const { instances } = await after.call(sandboxLifecycle.ListSandboxInstances, {});
      expect(instances?.map((one) => [one.name, one.lifecycleState]).sort()).toEqual([
        ['kept', 'running'],
        ['slept', 'sleeping'],
      ]);
      expect((await run(after, kept, 'cat /workspace/mark')).code).toBe(0);
      const status = await until(async () => {
        const now = await after.call(sandboxCommand.GetCommandStatus, { params: { sandboxId: kept, cmdId } });
        return !now.running && now;
      });
      expect(status).toMatchObject({ exit_code: 9 });
      const log = await (
        await after.open(sandboxCommand.GetCommandLogs, { params: { sandboxId: kept, cmdId } })
      ).text();
      expect(log).toBe(Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join(''));
      for (const sandboxId of [kept, slept])
        await after.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
      await second.stop();
    },
  );
});

interface OpenTerminal {
  readonly exit: Promise<{ readonly type: string; readonly code: number }>;
  send(text: string): void;
  control(message: object): void;
  text(channel?: number): string;
}

async function openTerminal(
  client: Client,
  sandboxId: string,
  query: Record<string, unknown>,
): Promise<OpenTerminal> {
  const socket = await client.socket(sandboxCommand.SandboxPty, { params: { sandboxId }, query });
  socket.binaryType = 'arraybuffer';
  const output: Record<number, string> = {};
  const exit = new Promise<{ type: string; code: number }>((resolve, reject) => {
    socket.onclose = () => reject(new Error('closed without an exit message'));
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string') {
        const message = JSON.parse(data);
        if (message.type === 'exit') resolve(message);
        return;
      }
      const bytes = new Uint8Array(data);
      const channel = bytes[0] ?? 0;
      output[channel] = (output[channel] ?? '') + new TextDecoder().decode(bytes.subarray(1));
    };
  });
  return {
    exit,
    send: (text) => socket.send(new Uint8Array([0, ...new TextEncoder().encode(text)])),
    control: (message) => socket.send(JSON.stringify(message)),
    text: (channel = 1) => output[channel] ?? '',
  };
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}
