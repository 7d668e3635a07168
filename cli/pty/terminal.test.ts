import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail } from '../../src/errors/app-error.ts';
import { FAKE_KEY, type FakeDaemon, startFakeDaemon } from '../testing/fake-daemon.ts';
import { runOnPty } from '../testing/run-svc.ts';

let daemon: FakeDaemon;
let home: string;

beforeAll(() => {
  daemon = startFakeDaemon();
  home = mkdtempSync(join(tmpdir(), 'svc-cli-terminal-'));
});

beforeEach(() => {
  daemon.controls.length = 0;
  daemon.seen.length = 0;
});

afterAll(() => {
  daemon.stop();
  rmSync(home, { recursive: true });
});

const environment = () => ({ HOME: home, SVC_API_URL: daemon.url, SVC_API_KEY: FAKE_KEY });

describe('svc sandbox shell', () => {
  test('sends keys as they are typed, and leaves the terminal as it was', async () => {
    const run = runOnPty(
      '$SVC sandbox shell box -- sh -c "echo ready; head -c 4 | od -An -c"; echo rc $?; stty -a',
      environment(),
    );
    await run.see('ready');
    run.type('a\x03\r\x1a');
    await run.exited;
    expect(run.shown().replaceAll(/\s+/g, ' ')).toContain('a 003 \\r 032 rc 0');
    expect(run.shown()).toMatch(/[^-]icanon/);
    expect(run.shown()).toMatch(/[^-]echo /);
  });

  test('tells the size at the start and when it changes', async () => {
    const run = runOnPty('$SVC sandbox shell box -- sh -c "echo ready; head -c 1 >/dev/null"', environment());
    await run.see('ready');
    expect(daemon.seen[0]?.query).toMatchObject({ tty: 'true', cols: '100', rows: '30', env: 'TERM=xterm' });
    run.resize(120, 40);
    while (daemon.controls.length === 0) await Bun.sleep(5);
    run.type('x');
    expect(await run.exited).toBe(0);
    expect(daemon.controls[0]).toEqual({ type: 'resize', cols: 120, rows: 40 });
  });
});

describe('svc login', () => {
  const login = () => runOnPty(`$SVC login --api-url ${daemon.url}; echo rc $?`, { HOME: home });

  test('asks for email and password, and does not show the password', async () => {
    daemon.on('POST /auth/login', () => fail('bad_login'));
    const run = login();
    await run.see('Email: ');
    run.type('mee\x7f@example.com\r');
    await run.see('Password: ');
    run.type('hunter2\r');
    await run.exited;
    expect(daemon.seen[0]?.body).toEqual({ email: 'me@example.com', password: 'hunter2' });
    expect(run.shown()).not.toContain('hunter2');
    expect(run.shown()).toContain('Email: me@example.com\r\n');
    expect(run.shown()).toContain('The email or the password is wrong.');
    expect(run.shown()).toContain('rc 4');
  });

  test('two lines pasted at once answer both questions', async () => {
    daemon.on('POST /auth/login', () => fail('bad_login'));
    const run = login();
    await run.see('Email: ');
    run.type('me@example.com\rhunter2\r');
    await run.exited;
    expect(daemon.seen[0]?.body).toEqual({ email: 'me@example.com', password: 'hunter2' });
  });

  test('Ctrl-C leaves with 130', async () => {
    const run = login();
    await run.see('Email: ');
    run.type('me\x03');
    await run.exited;
    expect(run.shown()).toContain('rc 130');
    expect(daemon.seen).toEqual([]);
  });
});

test('progress is shown on a terminal and gone at the end', async () => {
  daemon.on('POST /v1/sandbox', async () => {
    await Bun.sleep(400);
    return { id: 'sbx_1', name: 'box' };
  });
  const run = runOnPty('$SVC sandbox create > /dev/null', environment());
  await run.exited;
  expect(run.shown()).toContain('Creating the sandbox');
  const last = run.shown().split('\x1b[K').at(-1);
  expect(last).toMatch(/^Created in \d+ ms\. Go in: svc sandbox shell box\r\n$/);
});
