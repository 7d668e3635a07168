import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { otlpSettings } from '../src/api/sandbox/otlp.ts';
import { type Client, createClient } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import {
  type Attribute,
  type OtlpReceiver,
  type Received,
  type ReceivedMetric,
  type ReceivedResource,
  type ReceivedSpan,
  startOtlpReceiver,
} from './support/otlp-receiver.ts';
import { clientOf, newSandbox, run, until } from './support/scene.ts';
import { TwoTenants } from './support/tenants/two-tenants.ts';

setDefaultTimeout(60_000);

const ENV = { SVC_SANDBOX_SAMPLE_INTERVAL: '1s', SVC_OUTBOUND_ALLOW: '127.0.0.1' };
const SECRET = 'Bearer a-very-secret-token-1234';

const put = (client: Client, body: object) => client.call(otlpSettings.UpdateOtlpSettings, { body });
const plain = (attributes: readonly Attribute[] = []) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? Number(value.intValue ?? value.doubleValue),
    ]),
  );
const metricsOf = (resource: ReceivedResource | undefined): ReceivedMetric[] =>
  (resource?.scopeMetrics ?? []).flatMap(({ metrics }) => metrics);
const spansOf = (received: readonly Received[], id: string): ReceivedSpan[] =>
  received
    .flatMap(({ resources }) => resources)
    .filter(({ resource }) => plain(resource.attributes)['svc.sandbox.id'] === id)
    .flatMap(({ scopeSpans = [] }) => scopeSpans.flatMap(({ spans }) => spans));
const resourceOf = (received: Received, id: string) =>
  received.resources.find(({ resource }) => plain(resource.attributes)['svc.sandbox.id'] === id);

describe.each(driverCases)('figures of sandboxes on the $name driver', ({ name, env }) => {
  let daemon: TestDaemon;
  let client: Client;
  let receiver: OtlpReceiver;
  let id: string;
  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    daemon = await startDaemon({ env: { ...env, ...ENV } });
    client = clientOf(daemon);
    id = await newSandbox(client, { name: 'exported' });
    await put(client, {
      endpoint: `${receiver.url}/base/`,
      headers: { authorization: SECRET },
      extra_labels: { 'deployment.environment.name': 'test' },
      enabled: true,
    });
  });
  afterAll(async () => {
    await removeAll(client);
    await daemon.stop();
    await receiver.stop();
  });

  test('arrive whole: what is measured, of which sandbox, with the labels and headers of the tenant', async () => {
    const received = await receiver.nextWhere(
      (one) => one.path === '/base/v1/metrics' && !!resourceOf(one, id),
    );
    expect(received.headers).toMatchObject({
      authorization: SECRET,
      'content-type': 'application/x-protobuf',
    });
    const resource = resourceOf(received, id);
    expect(plain(resource?.resource.attributes)).toMatchObject({
      'service.name': 'svc-sandbox',
      'service.instance.id': id,
      'container.name': 'exported',
      'svc.sandbox.id': id,
      'svc.sandbox.name': 'exported',
      'svc.sandbox.backend': name,
      'svc.tenant.id': expect.any(String),
      'container.id': expect.any(String),
      'container.image.name': expect.any(String),
      'deployment.environment.name': 'test',
    });
    const metrics = Object.fromEntries(metricsOf(resource).map((metric) => [metric.name, metric]));
    const cumulative = { aggregationTemporality: 'AGGREGATION_TEMPORALITY_CUMULATIVE' };
    expect(metrics['container.cpu.time']).toMatchObject({
      unit: 's',
      sum: { ...cumulative, isMonotonic: true },
    });
    expect(metrics['container.cpu.usage']?.gauge?.dataPoints[0]?.asDouble).toBeNumber();
    expect(metrics['container.memory.usage']?.unit).toBe('By');
    expect(Number(metrics['container.memory.usage']?.sum?.dataPoints[0]?.asInt)).toBeGreaterThan(0);
    expect(metrics['container.memory.limit']?.sum?.dataPoints[0]?.asInt).toBe(String(512 * 1024 * 1024));
    expect(
      metrics['container.network.io']?.sum?.dataPoints.map(({ attributes }) => plain(attributes)),
    ).toEqual([
      { 'network.io.direction': 'receive', 'network.interface.name': 'eth0' },
      { 'network.io.direction': 'transmit', 'network.interface.name': 'eth0' },
    ]);
    expect(metrics['container.disk.io']?.sum?.dataPoints).toHaveLength(2);
    expect(Number(metrics['container.pids']?.sum?.dataPoints[0]?.asInt)).toBeGreaterThan(0);
    const [point] = metrics['container.cpu.time']?.sum?.dataPoints ?? [];
    const [started, at] = [Number(point?.startTimeUnixNano) / 1e6, Number(point?.timeUnixNano) / 1e6];
    expect(Math.abs(at - Date.now())).toBeLessThan(30_000);
    expect(at - started).toBeGreaterThan(0);
    expect(at - started).toBeLessThan(60_000);
    expect(point?.asDouble).toBeGreaterThan(0);
  });

  test('come with spans: what was done, when, how long, and how it ended', async () => {
    const sandboxId = await newSandbox(client);
    await run(client, sandboxId, 'sleep 0.3');
    await run(client, sandboxId, 'exit 3');
    await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId }, body: {} });
    await client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId }, body: {} });
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
    const received: Received[] = [];
    while (!spansOf(received, sandboxId).some((span) => span.name === 'sandbox.terminate'))
      received.push(await receiver.nextWhere(({ path }) => path === '/base/v1/traces'));
    const spans = spansOf(received, sandboxId);
    expect(spans.map((span) => span.name)).toEqual([
      'sandbox.create',
      'sandbox.command',
      'sandbox.command',
      'sandbox.stop',
      'sandbox.revive',
      'sandbox.terminate',
    ]);
    const ms = spans.map((span) => (Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e6);
    expect(ms[1]).toBeGreaterThan(280);
    expect(ms[0]).toBeGreaterThan(0);
    expect(ms[3]).toBeGreaterThan(0);
    expect(spans[1]?.status?.code).toBe('STATUS_CODE_OK');
    expect(spans[2]?.status).toEqual({ code: 'STATUS_CODE_ERROR', message: 'exit status 3' });
    expect(plain(spans[2]?.attributes)).toMatchObject({
      'process.exit.code': 3,
      'svc.event.type': 'command.finished',
    });
    expect(JSON.stringify(spans)).not.toContain('sleep 0.3');
    for (const { traceId, spanId } of spans) expect([traceId.length, spanId.length]).toEqual([32, 16]);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  });

  test('go on after a restart, and stop when they are switched off', async () => {
    const { dataDir, apiKey } = daemon;
    await daemon.kill9();
    daemon = await startDaemon({ env: { ...env, ...ENV }, dataDir, apiKey });
    client = clientOf(daemon);
    const since = Date.now();
    const received = await receiver.nextWhere((one) => {
      const [metric] = metricsOf(resourceOf(one, id));
      return Number(metric?.sum?.dataPoints[0]?.timeUnixNano) / 1e6 > since;
    });
    const [point] = metricsOf(resourceOf(received, id))[0]?.sum?.dataPoints ?? [];
    expect(Number(point?.startTimeUnixNano) / 1e6).toBeLessThan(since);
    await put(client, { enabled: false });
    await Bun.sleep(1_500);
    const off = Date.now();
    await Bun.sleep(2_500);
    await put(client, { enabled: true });
    const next = await receiver.nextWhere((one) => {
      const [metric] = metricsOf(resourceOf(one, id));
      return Number(metric?.sum?.dataPoints[0]?.timeUnixNano) / 1e6 > off;
    });
    const [after] = metricsOf(resourceOf(next, id))[0]?.sum?.dataPoints ?? [];
    expect(Number(after?.timeUnixNano) / 1e6 - off).toBeGreaterThan(2_400);
  });
});

describe('the export of figures', () => {
  const [{ env } = { env: {} }] = driverCases;
  let tenants: TwoTenants;
  let client: Client;
  let stranger: Client;
  let receiver: OtlpReceiver;
  let id: string;
  const figure = async (name: string) => {
    const text = await (await tenants.daemon.fetch('/metrics')).text();
    return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1]);
  };
  const settings = (who: Client) => who.call(otlpSettings.GetOtlpSettings, {});
  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    tenants = await TwoTenants.start({ env: { ...env, ...ENV } });
    client = clientOf(tenants.daemon);
    const { session } = await tenants.stranger('sam');
    const { key } = await tenants.key(tenants.fromPage(session), { name: 'sam' });
    stranger = createClient({ url: tenants.daemon.url, apiKey: key });
    id = await newSandbox(client);
  });
  afterAll(async () => {
    await removeAll(client);
    await removeAll(stranger);
    await tenants.stop();
    await receiver.stop();
  });

  test('is off until it is set, and cannot be tested before', async () => {
    expect(await settings(client)).toEqual({ endpoint: '', headers: {}, extra_labels: {}, enabled: false });
    await expect(client.call(otlpSettings.TestOtlpSettings, {})).rejects.toMatchObject({ http: 409 });
  });

  const base = 'https://otlp.example.com';
  test.each<[string, object, string]>([
    ['an endpoint that is none', { endpoint: 'otlp' }, 'endpoint'],
    ['another protocol', { endpoint: 'ftp://example.com' }, 'endpoint'],
    ['a password in the endpoint', { endpoint: 'https://me:secret@example.com' }, 'endpoint'],
    ['a query', { endpoint: 'https://example.com/?key=1' }, 'endpoint'],
    ['the address of one signal', { endpoint: 'https://example.com/v1/metrics' }, 'endpoint'],
    ['to be switched on without an endpoint', { enabled: true }, 'endpoint'],
    ['a header with a blank in its name', { endpoint: base, headers: { 'a b': 'x' } }, 'headers.a b'],
    ['a line break in a header', { endpoint: base, headers: { a: 'x\r\nhost: y' } }, 'headers.a'],
    ['a header of its own', { endpoint: base, headers: { Host: 'x' } }, 'headers.Host'],
    ['an empty value', { endpoint: base, headers: { a: '' } }, 'headers.a'],
    [
      'a label that would lie',
      { endpoint: base, extra_labels: { 'svc.tenant.id': 'x' } },
      'extra_labels.svc.tenant.id',
    ],
    ['a label without a name', { endpoint: base, extra_labels: { '': 'x' } }, 'extra_labels.'],
    [
      'too many labels',
      {
        endpoint: base,
        extra_labels: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`l${i}`, ''])),
      },
      'extra_labels',
    ],
  ])('refuses %s, and nothing has changed', async (_, body, field) => {
    const before = await settings(client);
    await expect(put(client, body)).rejects.toMatchObject({ http: 400, violations: [{ field }] });
    expect(await settings(client)).toEqual(before);
  });

  test('keeps headers sealed and shows them masked; a masked value that comes back keeps the secret', async () => {
    const answered = await put(client, {
      endpoint: receiver.url,
      headers: { authorization: SECRET },
      enabled: false,
    });
    expect(answered.headers).toEqual({ authorization: '****1234' });
    expect(await settings(client)).toEqual(answered);
    await put(client, answered);
    expect(await client.call(otlpSettings.TestOtlpSettings, {})).toMatchObject({ success: true });
    const received = await receiver.nextWhere(({ path }) => path === '/v1/traces');
    expect(received.headers.authorization).toBe(SECRET);
    const [span] = (received.resources[0]?.scopeSpans ?? []).flatMap(({ spans }) => spans);
    expect(span).toMatchObject({ name: 'svc.test', status: { code: 'STATUS_CODE_OK' } });
    for (const file of ['svc.db', 'svc.db-wal']) {
      const bytes = await Bun.file(join(tenants.daemon.dataDir, file)).bytes();
      expect(Buffer.from(bytes).includes('a-very-secret-token')).toBe(false);
    }
    const db = new Database(join(tenants.daemon.dataDir, 'svc.db'), { readonly: true });
    const audit = db.query("SELECT details FROM audit_log WHERE action = 'otlp.update'").all();
    db.close();
    expect(audit.length).toBeGreaterThan(0);
    expect(JSON.stringify(audit)).not.toContain('1234');
  });

  test('does not send a secret to another place on the word of somebody who knows only its mask', async () => {
    const elsewhere = { endpoint: 'https://elsewhere.example.com', headers: { authorization: '****1234' } };
    await expect(put(client, elsewhere)).rejects.toMatchObject({
      http: 400,
      violations: [{ field: 'headers.authorization' }],
    });
    await expect(put(client, { endpoint: elsewhere.endpoint })).rejects.toMatchObject({ http: 400 });
    expect((await settings(client)).endpoint).toBe(receiver.url);
  });

  test('says in words what a receiver answers', async () => {
    const tried = () => client.call(otlpSettings.TestOtlpSettings, {});
    await receiver.behave({ status: 401 });
    expect(await tried()).toEqual({
      success: false,
      message: `${receiver.url}/v1/traces answered 401 Unauthorized.`,
    });
    await receiver.behave({ rejected: 1 });
    expect(await tried()).toMatchObject({ success: false, message: expect.stringContaining('too much') });
    await receiver.behave({ close: true });
    expect(await tried()).toMatchObject({
      success: false,
      message: expect.stringContaining('could not be reached'),
    });
    await receiver.behave({});
    await put(client, { endpoint: 'http://10.255.255.1:4318', headers: {} });
    const refused = await tried();
    expect(refused).toMatchObject({ success: false, message: expect.stringContaining('not public') });
    await put(client, { endpoint: receiver.url, headers: {} });
  });

  test("sends each tenant's figures to that tenant's receiver only", async () => {
    const theirs = await startOtlpReceiver();
    try {
      const other = await newSandbox(stranger);
      await put(client, { enabled: true });
      await put(stranger, { endpoint: theirs.url, enabled: true });
      expect((await settings(stranger)).endpoint).toBe(theirs.url);
      const [mine, foreign] = await Promise.all([
        receiver.nextWhere((one) => !!resourceOf(one, id)),
        theirs.nextWhere((one) => !!resourceOf(one, other)),
      ]);
      const idsOf = ({ resources }: Received) =>
        resources.map(({ resource }) => plain(resource.attributes)['svc.sandbox.id']);
      expect(idsOf(mine)).toEqual([id]);
      expect(idsOf(foreign)).toEqual([other]);
      await put(stranger, { enabled: false });
    } finally {
      await theirs.stop();
    }
  });

  test.each([429, 502, 503, 504])(
    'tries again after %d, not before the receiver wants it, and in order',
    async (status) => {
      await receiver.behave({ status, retryAfter: '2' });
      await receiver.nextWhere((one) => one.status === status);
      const refusedAt = Date.now();
      await receiver.behave({});
      const again = await receiver.nextWhere((one) => one.status === 200 && !!resourceOf(one, id));
      expect(Date.now() - refusedAt).toBeGreaterThan(1_500);
      const [point] = metricsOf(resourceOf(again, id))[0]?.sum?.dataPoints ?? [];
      expect(Number(point?.timeUnixNano) / 1e6).toBeLessThan(refusedAt + 100);
    },
  );

  test('drops what a receiver does not want, counts it, and says so once', async () => {
    const before = await figure('svc_otlp_dropped_total');
    await receiver.behave({ status: 400 });
    await until(async () => (await figure('svc_otlp_dropped_total')) >= before + 2);
    await receiver.behave({ rejected: 1 });
    await until(async () => (await figure('svc_otlp_dropped_total')) >= before + 4);
    await receiver.behave({});
    const sent = await figure('svc_otlp_sent_total');
    await until(async () => (await figure('svc_otlp_sent_total')) > sent);
    const complaints = tenants.daemon
      .log()
      .split('\n')
      .filter((line) => line.includes('could not be exported'));
    expect(complaints.length).toBeLessThanOrEqual(1);
  });

  test('holds nothing up while a receiver is slow or gone', async () => {
    await receiver.behave({ delayMs: 4_000 });
    await receiver.nextWhere(() => true);
    for (let i = 0; i < 5; i++) {
      const begun = performance.now();
      expect((await run(client, id, 'true')).code).toBe(0);
      expect(performance.now() - begun).toBeLessThan(2_000);
    }
    await receiver.behave({ close: true });
    await receiver.nextWhere((one) => one.status === 0);
    expect((await run(client, id, 'true')).code).toBe(0);
    await receiver.behave({});
    await receiver.nextWhere((one) => one.status === 200 && !!resourceOf(one, id));
  });
});

async function removeAll(client: Client): Promise<void> {
  const { instances = [] } = await client.call(sandboxLifecycle.ListSandboxInstances, {
    query: { limit: 500 },
  });
  for (const { id = '' } of instances)
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
}
