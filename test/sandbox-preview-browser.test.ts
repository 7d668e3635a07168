import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { sandboxPorts } from '../src/api/sandbox/ports.ts';
import type { Client } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { type BoxServer, startApp, visit } from './support/preview-scene.ts';
import { clientOf, newSandbox, until } from './support/scene.ts';

setDefaultTimeout(60_000);

const chromium = Bun.which('chromium') ?? Bun.which('chromium-browser') ?? Bun.which('google-chrome');
const [driver] = driverCases;
const missing = chromium
  ? driver
    ? undefined
    : 'no driver can be tested here'
  : 'there is no Chromium here';

/** What the page of the test application reports. */
interface Report {
  readonly said: string;
  readonly protocol: string;
  readonly search: string;
  readonly cookie: string;
  readonly url: string;
  readonly sentCookie: string;
  readonly framed: boolean;
}

/** A signed link in a browser: nothing here depends on the driver, so one is enough. */
describe.skipIf(missing !== undefined)(`a preview in Chromium${missing ? `: ${missing}` : ''}`, () => {
  let daemon: TestDaemon;
  let client: Client;
  let id: string;
  let app: BoxServer;
  let shown = 0;
  let exposed: string;

  beforeAll(async () => {
    daemon = await startDaemon({ env: driver?.env });
    client = clientOf(daemon);
    id = await newSandbox(client, { networkMode: 'deny', timeoutSeconds: 0 });
    app = await startApp(client, id, 3000);
  });
  afterAll(async () => {
    await app?.stop();
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
    await daemon.stop();
  });

  const link = async () =>
    (await client.call(sandboxPorts.CreatePreviewUrl, { params: { sandboxId: id }, body: { port: 3000 } }))
      .url;

  const reportsAt = async (url: string): Promise<Report[]> =>
    ((await (await visit(url, '/reports')).json()) as string[]).map((text) => JSON.parse(text));

  /** Opens an address in a fresh browser and answers what the page there reported. */
  const show = async (address: string, signed: string): Promise<Report> => {
    const profile = mkdtempSync(join(tmpdir(), 'svc-chromium-'));
    const flags = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      `--user-data-dir=${profile}`,
    ];
    const browser = Bun.spawn([chromium ?? '', ...flags, address], { stdio: ['ignore', 'ignore', 'ignore'] });
    try {
      const report = await until(async () => (await reportsAt(signed))[shown], 30_000);
      shown++;
      return report;
    } finally {
      browser.kill('SIGKILL');
      await browser.exited;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
  };

  const withPath = (signed: string) => signed.replace('/?', '/page?');

  test('opens by its link, and its page uses a WebSocket and fetches', async () => {
    const signed = await link();
    expect(await show(withPath(signed), signed)).toEqual({
      said: 'from the page',
      protocol: 'chat',
      search: '',
      cookie: '',
      url: '/echo?fetched',
      sentCookie: '',
      framed: false,
    });
  });

  test('opens in a frame of another site', async () => {
    const signed = await link();
    const page = `<!doctype html><iframe src="${withPath(signed)}"></iframe>`;
    const other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => new Response(page, { headers: { 'content-type': 'text/html' } }),
    });
    try {
      const report = await show(`http://127.0.0.1:${other.port}/`, signed);
      expect(report).toMatchObject({ said: 'from the page', search: '', framed: true });
    } finally {
      other.stop(true);
    }
  });

  test('opens by its address alone when it is exposed', async () => {
    const { mapping } = await client.call(sandboxPorts.ExposePort, {
      params: { sessionId: id },
      body: { port: 3000 },
    });
    exposed = mapping?.url ?? '';
    expect(await show(`${exposed}page`, exposed)).toMatchObject({ said: 'from the page', framed: false });
  });
});
