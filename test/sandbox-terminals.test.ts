import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runOnPty } from '../cli/testing/run-svc.ts';
import { sandboxCommand } from '../src/api/sandbox/command.ts';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import type { Client } from '../src/client/client.ts';
import { freePort, startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, until } from './support/scene.ts';

interface Control {
  readonly type: string;
  readonly [name: string]: unknown;
}

/** A connection to a terminal, with all that came on it. */
interface Connection {
  readonly controls: Control[];
  readonly closed: Promise<{ readonly code: number }>;
  text(channel?: number): string;
  type(text: string): void;
  say(message: object): void;
  /** Waits for a control message. */
  hear(type: string): Promise<Control>;
  /** Goes away as a browser tab does, without hanging up. */
  drop(): void;
  close(code?: number): void;
}

describe.each(driverCases)('terminals on the $name driver', ({ env }) => {
  let daemon: TestDaemon;
  let client: Client;
  let sandboxId: string;
  const linePort = freePort();
  beforeAll(async () => {
    daemon = await startDaemon({ env: { ...env, SVC_SERVER_HOSTS: `127.0.0.1:${linePort}` } });
    client = clientOf(daemon);
    sandboxId = await newSandbox(client, { name: 'terms' });
  });
  afterAll(async () => {
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
    await daemon.stop();
  });

  const open = async (query: Record<string, unknown>): Promise<Connection> => {
    const socket = await client.socket(sandboxCommand.SandboxPty, { params: { sandboxId }, query });
    const output: Record<number, Uint8Array[]> = {};
    const controls: Control[] = [];
    socket.addEventListener('message', ({ data }) => {
      if (typeof data === 'string') return void controls.push(JSON.parse(data));
      const bytes = new Uint8Array(data);
      const channel = bytes[0] ?? 0;
      output[channel] = [...(output[channel] ?? []), bytes.slice(1)];
    });
    const closed = new Promise<{ code: number }>((resolve) => socket.addEventListener('close', resolve));
    return {
      controls,
      closed,
      text: (channel = 1) => Buffer.concat(output[channel] ?? []).toString(),
      type: (text) => socket.send(new Uint8Array([0, ...new TextEncoder().encode(text)])),
      say: (message) => socket.send(JSON.stringify(message)),
      hear: (type) => until(() => controls.find((one) => one.type === type)),
      drop: () => socket.close(4000),
      close: (code = 1000) => socket.close(code),
    };
  };
  const list = async () =>
    (await client.call(sandboxCommand.ListTerminals, { params: { sandboxId } })).terminals;
  const idOf = async (terminal: Connection) => String((await terminal.hear('ready')).session);
  const refusal = async (attempt: Promise<unknown>) =>
    (await attempt.then(
      () => undefined,
      (error: unknown) => error,
    )) as { http: number; code: string };

  test('one that is left goes on, and what was missed comes on the replay channel', async () => {
    const first = await open({ command: 'stty -echo; echo begin; read x; echo "got $x"; read y; exit 4' });
    const session = await idOf(first);
    await until(() => first.text().includes('begin'));
    const seen = first.text().length;
    first.type('one\n');
    first.drop();
    await first.closed;
    await until(async () => (await list())[0]?.attached === false);
    const again = await open({ session, since: String(seen) });
    expect(await again.hear('ready')).toMatchObject({ session, offset: seen });
    await until(() => (again.text(3) + again.text(1)).includes('got one'));
    expect(again.text(3) + again.text(1)).not.toContain('begin');
    const whole = await open({ session, mode: 'view' });
    await whole.hear('live');
    expect(whole.text(3)).toContain('begin');
    again.type('two\n');
    expect(await again.hear('exit')).toMatchObject({ code: 4 });
    expect(await whole.hear('exit')).toMatchObject({ code: 4 });
    expect(await refusal(open({ session }))).toMatchObject({ http: 409, code: 'terminal_ended' });
    expect(await refusal(open({ session: 'pty_nobody' }))).toMatchObject({ http: 404 });
  });

  test('the keyboard goes to who comes last; viewers type nothing', async () => {
    const first = await open({ command: 'stty -echo; echo ready; while read x; do echo "<$x>"; done' });
    const session = await idOf(first);
    await until(() => first.text().includes('ready'));
    const viewer = await open({ session, mode: 'view' });
    await viewer.hear('live');
    viewer.type('from viewer\n');
    const second = await open({ session, since: '0' });
    expect((await first.closed).code).toBe(4001);
    await second.hear('live');
    second.type('from second\n');
    await until(() => viewer.text().includes('<from second>'));
    expect(viewer.text(3) + viewer.text()).not.toContain('from viewer');
    expect((await list()).find(({ id }) => id === session)).toMatchObject({ attached: true, viewers: 1 });
    await client.call(sandboxCommand.EndTerminal, { params: { sandboxId, terminalId: session } });
    expect(await second.hear('exit')).toMatchObject({ code: 129 });
    await until(async () => !(await list()).some(({ id }) => id === session));
  });

  test('a peer that says goodbye hangs up', async () => {
    const terminal = await open({ command: 'sleep 600' });
    const session = await idOf(terminal);
    terminal.close(1000);
    await until(async () => !(await list()).some(({ id }) => id === session));
  });

  test('keeps a megabyte for those who come late, and says what is gone', async () => {
    const terminal = await open({
      command: 'read x; head -c 3000000 /dev/zero | tr "\\0" z; echo; echo done; read y',
    });
    const session = await idOf(terminal);
    terminal.type('\n');
    terminal.drop();
    await until(async () => Number((await list()).find(({ id }) => id === session)?.offset) > 3_000_000);
    const late = await open({ session, since: '10' });
    const { offset } = await late.hear('ready');
    expect(Number(offset)).toBeGreaterThan(1_900_000);
    await late.hear('live');
    expect(late.text(3).length).toBe(1024 * 1024);
    expect(late.text(3)).toContain('done');
    late.close();
  });

  test('a command line that no address holds comes in a first frame', async () => {
    const long = await open({ start: 'frame', tty: false });
    const word = 'x'.repeat(100_000);
    long.say({
      type: 'start',
      tty: false,
      command: `echo ${word} | wc -c; echo $COLOR`,
      env: { COLOR: 'blue' },
    });
    expect(await long.hear('exit')).toMatchObject({ code: 0 });
    expect(long.text()).toBe('100001\nblue\n');
    const wrong = await open({ start: 'frame' });
    wrong.say({ type: 'start', cols: 0 });
    expect(await wrong.hear('error')).toMatchObject({ code: 'invalid_argument' });
    expect((await wrong.closed).code).toBe(4003);
    const huge = await open({ start: 'frame', tty: false });
    huge.say({ type: 'start', tty: false, command: 'x'.repeat(140_000) });
    expect((await huge.hear('error')).message).toContain('command');
  });

  test('text is whole however it is cut, and sizes and signals arrive', async () => {
    const terminal = await open({
      cols: 80,
      rows: 24,
      command:
        'stty -echo; trap "echo caught" INT; for i in 1 2 3; do printf "\\342\\202"; sleep 0.05; printf "\\254"; done; echo; read x; stty size; while :; do read y; done',
    });
    await until(() => terminal.text().includes('€€€'));
    terminal.say({ type: 'resize', cols: 100, rows: 30 });
    await Bun.sleep(150);
    terminal.type('\n');
    await until(() => terminal.text().includes('30 100'));
    terminal.type('\x03');
    await until(() => terminal.text().includes('caught'));
    terminal.say({ type: 'signal', signal: 'SIGKILL' });
    expect(await terminal.hear('exit')).toMatchObject({ code: 137 });
  });

  test('svc sandbox shell connects again by itself when the connection drops', async () => {
    const line = new CutLine(daemon.url);
    const url = await line.listen(linePort);
    const home = mkdtempSync(join(tmpdir(), 'svc-terminals-'));
    const run = runOnPty(
      `$SVC sandbox shell terms -- sh -c 'stty -echo; echo begin; read x; echo got-$x; exit 5'; echo rc $?`,
      { HOME: home, SVC_API_URL: url, SVC_API_KEY: daemon.apiKey, SVC: svcCommand().join(' ') },
    );
    await run.see('begin');
    line.cut();
    await run.see('connecting again');
    run.type('back\r');
    await run.see('got-back');
    await run.exited;
    expect(run.shown()).toContain('rc 5');
    expect(run.shown().split('begin').length).toBe(2);
    line.close();
    rmSync(home, { recursive: true });
  });
});

describe.each(driverCases)('a short grace on the $name driver', ({ env }) => {
  test('ends a terminal that nobody comes back to', async () => {
    const daemon = await startDaemon({ env: { ...env, SVC_SANDBOX_TERMINAL_GRACE: '300ms' } });
    const client = clientOf(daemon);
    const sandboxId = await newSandbox(client);
    const socket = await client.socket(sandboxCommand.SandboxPty, {
      params: { sandboxId },
      query: { command: 'sleep 600' },
    });
    const terminals = async () =>
      (await client.call(sandboxCommand.ListTerminals, { params: { sandboxId } })).terminals.length;
    await until(async () => (await terminals()) === 1);
    socket.close(4000);
    await until(async () => (await terminals()) === 0);
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
    await daemon.stop();
  });
});

/** A line to the daemon that can be cut. */
class CutLine {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  constructor(daemonUrl: string) {
    const port = Number(new URL(daemonUrl).port);
    this.server = createServer((near) => {
      const far = connect(port, '127.0.0.1');
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          this.sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
      }
      near.pipe(far).pipe(near);
    });
  }

  listen(port: number): Promise<string> {
    return new Promise((resolve) =>
      this.server.listen(port, '127.0.0.1', () => resolve(`http://127.0.0.1:${port}`)),
    );
  }

  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  close(): void {
    this.cut();
    this.server.close();
  }
}
