import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import type { Output } from '../src/api/endpoint.ts';
import { sandboxCrons } from '../src/api/sandbox/crons.ts';
import { sandboxHistory } from '../src/api/sandbox/history.ts';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { lifecycleWebhooks } from '../src/api/sandbox/lifecycle-webhooks.ts';
import { sandboxWebhooks } from '../src/api/sandbox/webhooks.ts';
import { type Client, createClient } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { type DriverCase, driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, run, until } from './support/scene.ts';
import { TwoTenants } from './support/tenants/two-tenants.ts';

setDefaultTimeout(60_000);

type Webhook = Required<Output<typeof sandboxWebhooks.CreateWebhook>>;

const sign = (secret: string, body: string) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/** What a refused call answered. */
async function refused(attempt: Promise<unknown>): Promise<{ http: number; message: string }> {
  const error = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  return error as { http: number; message: string };
}

/** A daemon of one test file's part, with what its tests do again and again. */
class Scene {
  private constructor(
    public daemon: TestDaemon,
    public client: Client,
    private readonly options: { readonly env: Readonly<Record<string, string>> },
  ) {}

  static async start({ env }: Pick<DriverCase, 'env'>): Promise<Scene> {
    const options = { env: { ...env, SVC_OUTBOUND_ALLOW: '127.0.0.1' } };
    const daemon = await startDaemon(options);
    return new Scene(daemon, clientOf(daemon), options);
  }

  /** Ends the daemon without warning and starts it again on what it had written. */
  async crash(): Promise<void> {
    const { dataDir, apiKey } = this.daemon;
    await this.daemon.kill9();
    this.daemon = await startDaemon({ ...this.options, dataDir, apiKey });
    this.client = clientOf(this.daemon);
  }

  async webhook(body: Record<string, unknown>): Promise<Webhook> {
    return (await this.client.call(sandboxWebhooks.CreateWebhook, { body })) as Webhook;
  }

  /** Calls a webhook at its path, signed. */
  invoke({ webhook, secret }: Webhook, body = '{}', headers: Record<string, string> = {}, query = '') {
    const signature = { 'x-hub-signature-256': sign(secret, body) };
    const url = `${this.daemon.url}/hooks/${webhook.path}${query}`;
    return fetch(url, { method: 'POST', body, headers: { ...signature, ...headers } });
  }

  async runs(triggerType: 'cron' | 'webhook', triggerId = '') {
    const query = { triggerType, triggerId: triggerId || undefined, limit: 100 };
    return (await this.client.call(sandboxCrons.ListTriggers, { query })).triggers ?? [];
  }

  async find({ webhook }: Webhook) {
    const { webhooks = [] } = await this.client.call(sandboxWebhooks.ListWebhooks, { query: { limit: 100 } });
    return webhooks.find(({ id }) => id === webhook.id);
  }

  async state(sandboxId: string) {
    const { instance } = await this.client.call(sandboxLifecycle.GetSandboxInstance, {
      params: { sandboxId },
    });
    return instance?.lifecycleState;
  }

  async stop(): Promise<void> {
    const { instances = [] } = await this.client.call(sandboxLifecycle.ListSandboxInstances, {
      query: { limit: 100 },
    });
    for (const { id = '' } of instances)
      await this.client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
    await this.daemon.stop();
  }
}

describe.each(driverCases)('automation on the $name driver', (driver) => {
  let scene: Scene;
  let box: string;
  beforeAll(async () => {
    scene = await Scene.start(driver);
    box = await newSandbox(scene.client, { name: 'box' });
  }, 60_000);
  afterAll(() => scene?.stop(), 60_000);

  describe('a cron', () => {
    test('runs on its minute, with its execution, its counts and its next time', async () => {
      const command = 'echo "$SVC_TRIGGER_TYPE $SVC_TRIGGER_NAME in $(pwd)"; exit 3';
      const { cron } = await scene.client.call(sandboxCrons.CreateCron, {
        body: { sandboxId: 'box', name: 'nightly', schedule: '* * * * *', command, workDir: '/tmp' },
      });
      const due = cron?.nextRunAt;
      expect(Date.parse(due ?? '')).toBeGreaterThan(Date.now());
      const [triggered] = await until(async () => {
        const ended = (await scene.runs('cron', cron?.id)).filter(({ finishedAt }) => finishedAt);
        return ended.length > 0 && ended;
      }, 75_000);
      expect(triggered).toMatchObject({
        triggerType: 'cron',
        triggerId: cron?.id,
        sandboxId: box,
        status: 'failed',
        error: 'exit status 3',
        exitCode: 3,
        scheduledAt: due,
      });
      const late = Date.parse(triggered?.createdAt ?? '') - Date.parse(due ?? '');
      expect(late).toBeWithin(0, 3_000);
      const { executions = [] } = await scene.client.call(sandboxHistory.ListSandboxExecutions, {
        params: { sandboxId: box },
        query: { limit: 100 },
      });
      const execution = executions.find(({ id }) => id === triggered?.executionId);
      expect(execution).toMatchObject({ stdout: 'cron nightly in /tmp\n', exitCode: 3 });
      const { crons = [] } = await scene.client.call(sandboxCrons.ListCrons, { query: { sandboxId: 'box' } });
      expect(crons[0]).toMatchObject({
        runCount: 1,
        errorCount: 1,
        lastError: 'exit status 3',
        nextRunAt: new Date(Date.parse(due ?? '') + 60_000).toISOString(),
      });
      await scene.client.call(sandboxCrons.DeleteCron, { params: { id: cron?.id ?? '' } });
    }, 90_000);

    test('that is disabled has no next time, and has one again when it is enabled', async () => {
      const body = { sandboxId: box, schedule: '@daily', command: 'true' };
      const { cron } = await scene.client.call(sandboxCrons.CreateCron, { body });
      const params = { id: cron?.id ?? '' };
      const update = async (change: object) =>
        (await scene.client.call(sandboxCrons.UpdateCron, { params, body: change })).cron;
      expect((await update({ enabled: false }))?.nextRunAt).toBeUndefined();
      expect((await update({ enabled: true }))?.nextRunAt).toBe(cron?.nextRunAt);
      expect((await update({ timezone: 'Asia/Kolkata' }))?.nextRunAt).toEndWith('T18:30:00.000Z');
      expect(await refused(update({ schedule: 'never' }))).toMatchObject({ http: 400 });
      expect((await update({ name: 'x' }))?.schedule).toBe('@daily');
      await scene.client.call(sandboxCrons.DeleteCron, { params });
      expect(await refused(update({ name: 'x' }))).toMatchObject({ http: 404 });
    });
  });

  describe('a webhook', () => {
    test('hands the body to the command as it came, and what may be told of the headers', async () => {
      const command =
        'cat; printf "|$SVC_TRIGGER_HEADER_X_GITHUB_EVENT|"; env | grep -c -i -e signature -e secret-word; echo err >&2';
      const hook = await scene.webhook({ sandboxId: box, command, name: 'deploy' });
      const body = '{"a": "$(id) `id` \' \\" ü"}';
      const headers = { 'x-github-event': 'push; id', authorization: 'secret-word', cookie: 'a=secret-word' };
      const answer = await scene.invoke(hook, body, headers);
      expect(await answer.json()).toMatchObject({
        status: 'succeeded',
        stdout: `${body}|push; id|0\n`,
        stderr: 'err\n',
      });
      const [triggered] = await scene.runs('webhook', hook.webhook.id);
      expect(triggered).toMatchObject({ webhookMethod: 'POST', webhookBody: body, sandboxId: box });
      expect(JSON.stringify(triggered)).not.toContain('secret-word');
    });

    test('answers with the result, and counts', async () => {
      const hook = await scene.webhook({ sandboxId: box, command: 'echo out; echo err >&2; exit "$(cat)"' });
      const answer = await scene.invoke(hook, '0');
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({
        status: 'succeeded',
        exitCode: 0,
        stdout: 'out\n',
        stderr: 'err\n',
      });
      expect(await (await scene.invoke(hook, '7')).json()).toMatchObject({ status: 'failed', exitCode: 7 });
      expect(await scene.find(hook)).toMatchObject({
        triggerCount: 2,
        errorCount: 1,
        lastError: 'exit status 7',
      });
      expect((await scene.find(hook))?.lastTriggeredAt).toBeString();
    });

    test('goes on behind a caller that does not wait, and is killed after its time', async () => {
      const hook = await scene.webhook({ sandboxId: box, command: 'sleep 600', timeoutSeconds: 1 });
      const answer = (await (await scene.invoke(hook, '', {}, '?wait=0')).json()) as { triggerId: string };
      expect(answer).toMatchObject({ status: 'queued' });
      const triggered = await until(async () =>
        (await scene.runs('webhook', hook.webhook.id)).find(({ status }) => status === 'timed_out'),
      );
      expect(triggered).toMatchObject({ id: answer.triggerId, error: 'killed after its timeout' });
    });

    test('takes a large body that the command does not read, and none that is larger than 256 KiB', async () => {
      const hook = await scene.webhook({ sandboxId: box, command: 'echo done' });
      const full = 'x'.repeat(256 * 1024);
      expect(await (await scene.invoke(hook, full)).json()).toMatchObject({
        status: 'succeeded',
        stdout: 'done\n',
      });
      const reading = await scene.webhook({ sandboxId: box, command: 'wc -c' });
      expect(((await (await scene.invoke(reading, full)).json()) as { stdout: string }).stdout.trim()).toBe(
        '262144',
      );
      const over = `${full}x`;
      expect((await scene.invoke(hook, over)).status).toBe(413);
      const chunked = await fetch(hook.webhook.url ?? '', {
        method: 'POST',
        body: new Blob([over]).stream(),
        headers: { 'x-hub-signature-256': sign(hook.secret, over) },
      });
      expect(chunked.status).toBe(413);
    });

    test('runs a delivery once, however often and however fast it comes', async () => {
      const hook = await scene.webhook({ sandboxId: box, command: 'echo x >> /tmp/once; sleep 0.2' });
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => scene.invoke(hook, '{}', { 'x-github-delivery': 'd-1' })),
      );
      const told = (await Promise.all(answers.map((answer) => answer.json()))) as Array<
        Record<string, string>
      >;
      expect(told.filter(({ status }) => status !== 'duplicate')).toHaveLength(1);
      expect(new Set(told.map(({ triggerId }) => triggerId)).size).toBe(1);
      await scene.invoke(hook, '{}', { 'webhook-id': 'd-2' });
      expect((await run(scene.client, box, 'wc -l < /tmp/once')).stdout.trim()).toBe('2');
    });

    test('wakes a sandbox that sleeps, unless it is told not to', async () => {
      const id = await newSandbox(scene.client);
      const hook = await scene.webhook({ sandboxId: id, command: 'echo awake' });
      const leaving = await scene.webhook({ sandboxId: id, command: 'echo awake', wake: false });
      await scene.client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: id }, body: {} });
      expect(await (await scene.invoke(leaving)).json()).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('sleeping'),
      });
      const answers = await Promise.all([scene.invoke(hook), scene.invoke(hook), scene.invoke(hook)]);
      for (const answer of answers)
        expect(await answer.json()).toMatchObject({ status: 'succeeded', stdout: 'awake\n' });
      expect(await scene.state(id)).toBe('running');
    });

    test('restores a sandbox that is archived', async () => {
      const id = await newSandbox(scene.client);
      await run(scene.client, id, 'echo kept > /workspace/file');
      const hook = await scene.webhook({ sandboxId: id, command: 'cat /workspace/file' });
      await scene.client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: id }, body: {} });
      await scene.client.call(sandboxLifecycle.ArchiveSandbox, { params: { sandboxId: id }, body: {} });
      const answer = await scene.invoke(hook, '{}', {}, '?wait=30');
      expect(await answer.json()).toMatchObject({ status: 'succeeded', stdout: 'kept\n' });
    }, 60_000);

    test('has its sandbox made again where that is wanted, once for all that worked in it', async () => {
      const id = await newSandbox(scene.client, { envVars: { COLOR: 'old' } });
      const command = 'echo $COLOR';
      const alike = await scene.webhook({ sandboxId: id, command, autoRecreate: true });
      const other = await scene.webhook({
        sandboxId: id,
        command,
        autoRecreate: true,
        sandboxConfig: { envVars: { COLOR: 'new' } },
      });
      const lost = await scene.webhook({ sandboxId: id, command });
      await scene.client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
      const gone = await scene.invoke(lost);
      expect(await gone.json()).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('is terminated'),
      });
      const answers = await Promise.all([scene.invoke(other), scene.invoke(other)]);
      for (const answer of answers) expect(await answer.json()).toMatchObject({ stdout: 'new\n' });
      expect(await (await scene.invoke(alike)).json()).toMatchObject({ stdout: 'new\n' });
      expect(await (await scene.invoke(lost)).json()).toMatchObject({ stdout: 'new\n' });
      const homes = await Promise.all(
        [alike, other, lost].map(async (hook) => (await scene.find(hook))?.sandboxId),
      );
      expect(new Set(homes).size).toBe(1);
      expect(homes[0]).not.toBe(id);
    });
  });

  test('a run that a crash cut off is marked and not begun again; what was acknowledged and waited is run', async () => {
    const hook = await scene.webhook({ sandboxId: box, command: 'echo begun >> /tmp/begun; sleep 30' });
    const { triggerId } = (await (await scene.invoke(hook, '{}', {}, '?wait=0')).json()) as {
      triggerId: string;
    };
    await until(async () => (await run(scene.client, box, 'cat /tmp/begun')).stdout !== '');
    await scene.crash();
    const triggered = (await scene.runs('webhook', hook.webhook.id)).find(({ id }) => id === triggerId);
    expect(triggered).toMatchObject({ status: 'interrupted', error: 'svc was restarted while it ran' });
    expect(await scene.find(hook)).toMatchObject({ errorCount: 1 });
    const quick = await scene.webhook({ sandboxId: box, command: 'echo ok' });
    expect(await (await scene.invoke(quick)).json()).toMatchObject({ status: 'succeeded' });
    expect((await run(scene.client, box, 'wc -l < /tmp/begun')).stdout.trim()).toBe('1');
  }, 60_000);

  test('a delivery that failed comes again five seconds later under its id, though the daemon was ended meanwhile', async () => {
    const seen: Array<{ readonly id: string | null; readonly at: number }> = [];
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ headers }) =>
        new Response('', {
          status: seen.push({ id: headers.get('webhook-id'), at: Date.now() }) === 1 ? 500 : 200,
        }),
    });
    const body = { url: `http://127.0.0.1:${server.port}/`, events: ['sandbox.deleted' as const] };
    const { id } = await scene.client.call(lifecycleWebhooks.CreateWebhookEndpoint, { body });
    const sandboxId = await newSandbox(scene.client);
    await scene.client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
    const deliveries = async () =>
      (await scene.client.call(lifecycleWebhooks.ListWebhookDeliveries, { params: { id } })).deliveries;
    await until(async () => (await deliveries())[0]?.attempts === 1);
    await scene.crash();
    await until(async () => (await deliveries())[0]?.status === 'delivered', 15_000);
    expect(await deliveries()).toMatchObject([{ id: seen[0]?.id, attempts: 2, responseStatus: 200 }]);
    expect(seen).toHaveLength(2);
    expect(seen[1]?.id).toBe(seen[0]?.id ?? '');
    expect((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0)).toBeGreaterThanOrEqual(5_000);
    server.stop(true);
    await scene.client.call(lifecycleWebhooks.DeleteWebhookEndpoint, { params: { id } });
  }, 60_000);

  test('endpoints are told what happens to a sandbox, in order', async () => {
    const seen: Array<Record<string, string>> = [];
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const text = await request.text();
        const isRight = request.headers.get('x-svc-signature') === sign('my secret', text);
        seen.push({ ...JSON.parse(text), isRight: String(isRight) });
        return new Response('ok');
      },
    });
    const url = `http://127.0.0.1:${server.port}/hook`;
    const body = { url, secret: 'my secret' };
    const { id } = await scene.client.call(lifecycleWebhooks.CreateWebhookEndpoint, { body });
    const sandboxId = await newSandbox(scene.client);
    const params = { sandboxId };
    await scene.client.call(sandboxLifecycle.StopSandbox, { params, body: {} });
    await scene.client.call(sandboxLifecycle.ReviveSandbox, { params, body: {} });
    await scene.client.call(sandboxLifecycle.TerminateSandbox, { params, body: {} });
    const mine = () => seen.filter(({ sandbox_id }) => sandbox_id === sandboxId);
    await until(() => mine().length >= 4);
    expect(mine().map(({ event, state, status, isRight }) => [event, state, status, isRight])).toEqual([
      ['sandbox.started', 'running', 'SANDBOX_STATUS_RUNNING', 'true'],
      ['sandbox.stopped', 'sleeping', 'SANDBOX_STATUS_STOPPED', 'true'],
      ['sandbox.started', 'running', 'SANDBOX_STATUS_RUNNING', 'true'],
      ['sandbox.deleted', 'terminated', 'SANDBOX_STATUS_STOPPED', 'true'],
    ]);
    server.stop(true);
    await scene.client.call(lifecycleWebhooks.DeleteWebhookEndpoint, { params: { id } });
  }, 30_000);
});

describe('without sandboxes', () => {
  const config = { autoRecreate: true, sandboxConfig: { image: 'x' } };
  let two: TwoTenants;
  let first: Client;
  let second: Client;
  beforeAll(async () => {
    two = await TwoTenants.start();
    const people = [await two.stranger('sam'), await two.stranger('bea')];
    const keys = await Promise.all(people.map(({ session }) => two.key(two.fromPage(session))));
    const [one, other] = keys.map(({ key }) => createClient({ url: two.daemon.url, apiKey: key }));
    [first, second] = [one as Client, other as Client];
  }, 60_000);
  afterAll(() => two?.stop());

  test.each([
    [{ command: '' }, 'command'],
    [{ command: 'a\0b' }, 'command'],
    [{ schedule: '* * *' }, 'schedule'],
    [{ schedule: undefined }, 'schedule'],
    [{ timezone: 'Mars' }, 'timezone'],
    [{ workDir: 'tmp' }, 'workDir'],
    [{ timeoutSeconds: -1 }, 'timeoutSeconds'],
    [{ timeoutSeconds: 86_401 }, 'timeoutSeconds'],
    [{ name: 'x'.repeat(129) }, 'name'],
    [{ missedRuns: 'often' }, 'missedRuns'],
    [{ overlap: 'maybe' }, 'overlap'],
    [{ autoRecreate: false }, 'sandboxId'],
    [{ sandboxConfig: { cpuLimit: 99 } }, 'sandboxConfig.cpuLimit'],
    [{ sandboxConfig: { cpus: 1 } }, 'sandboxConfig.cpus'],
    [{ sandboxConfig: { memoryMb: 'much' } }, 'sandboxConfig.memoryMb'],
    [{ sandboxConfig: { templateId: 'none' } }, 'sandboxConfig.templateId'],
    [{ sandboxConfig: { tenantId: 'org_other' } }, 'sandboxConfig.tenantId'],
  ])('a cron with %j is refused for %s, and none is made', async (change, field) => {
    const body = { schedule: '@daily', command: 'true', ...config, ...change };
    const error = await refused(first.call(sandboxCrons.CreateCron, { body: body as object }));
    expect({ http: error.http, message: error.message }).toEqual({
      http: 400,
      message: expect.stringMatching(new RegExp(`^${field}: `)),
    });
    expect((await first.call(sandboxCrons.ListCrons)).total).toBe(0);
  });

  test('a cron or webhook of a sandbox that is not there is 404, naming it', async () => {
    const body = { sandboxId: 'nobox', schedule: '@daily', command: 'true' };
    const cron = await refused(first.call(sandboxCrons.CreateCron, { body }));
    expect(cron).toMatchObject({ http: 404, message: expect.stringContaining('nobox') });
    const webhook = await refused(
      first.call(sandboxWebhooks.CreateWebhook, { body: { sandboxId: 'nobox', command: 'true' } }),
    );
    expect(webhook).toMatchObject({ http: 404, message: expect.stringContaining('nobox') });
  });

  test.each([
    [{ path: 'a' }, 'path'],
    [{ path: '../x' }, 'path'],
    [{ path: 'a/b' }, 'path'],
    [{ path: 'x'.repeat(129) }, 'path'],
    [{ path: 'mine', unsigned: true }, 'path'],
    [{ rateLimitRpm: -1 }, 'rateLimitRpm'],
    [{ rateLimitRpm: 601 }, 'rateLimitRpm'],
    [{ command: ' ' }, 'command'],
  ])('a webhook with %j is refused for %s', async (change, field) => {
    const error = await refused(
      first.call(sandboxWebhooks.CreateWebhook, { body: { command: 'true', ...config, ...change } }),
    );
    expect(error).toMatchObject({ http: 400, message: expect.stringMatching(new RegExp(`^${field}: `)) });
  });

  test('a path is one webhook’s on the whole instance, and nobody is told whose', async () => {
    const body = { command: 'true', path: '/taken-path', ...config };
    const { webhook } = await first.call(sandboxWebhooks.CreateWebhook, { body });
    expect(webhook).toMatchObject({
      path: 'taken-path',
      url: expect.stringMatching(/^http:.*\/hooks\/taken-path$/),
    });
    const errors = [
      await refused(first.call(sandboxWebhooks.CreateWebhook, { body })),
      await refused(second.call(sandboxWebhooks.CreateWebhook, { body })),
    ];
    expect(errors.map(({ http }) => http)).toEqual([409, 409]);
    expect(errors[0]?.message).toBe(errors[1]?.message ?? '');
  });

  test('a call is let in by a right signature alone, as often as the limit says, at an address that is known', async () => {
    const body = { command: 'true', rateLimitRpm: 3, ...config };
    const { webhook, secret = '' } = await first.call(sandboxWebhooks.CreateWebhook, { body });
    const call = (signature?: string, path = webhook?.path) =>
      fetch(`${two.daemon.url}/hooks/${path}?wait=0`, {
        method: 'POST',
        body: '{}',
        headers: signature === undefined ? {} : { 'x-hub-signature-256': signature },
      });
    const right = sign(secret, '{}');
    for (const wrong of [
      undefined,
      '',
      sign(secret, '{} '),
      sign('other', '{}'),
      right.replace('256', '1'),
      `${right}00`,
    ])
      expect((await call(wrong)).status).toBe(401);
    expect((await call(right, 'unknown-path')).status).toBe(404);
    for (let i = 0; i < 3; i++) expect((await call(right)).status).toBe(200);
    const over = await call(right);
    expect(over.status).toBe(429);
    expect(Number(over.headers.get('retry-after'))).toBeWithin(1, 61);
    const params = { id: webhook?.id ?? '' };
    await first.call(sandboxWebhooks.UpdateWebhook, { params, body: { enabled: false } });
    expect((await call(right)).status).toBe(404);
    await first.call(sandboxWebhooks.DeleteWebhook, { params });
    expect((await call(right)).status).toBe(404);
  });

  test('one that takes unsigned calls has an address that cannot be guessed, and no secret', async () => {
    const made = await first.call(sandboxWebhooks.CreateWebhook, {
      body: { command: 'true', unsigned: true, ...config },
    });
    expect(made.secret).toBe('');
    expect(made.webhook?.path?.length).toBe(43);
    const answer = await fetch(`${two.daemon.url}/hooks/${made.webhook?.path}?wait=0`, { method: 'POST' });
    expect(answer.status).toBe(200);
  });

  test('nothing of one tenant is seen, changed or removed by another', async () => {
    const body = { schedule: '@daily', command: 'true', ...config };
    const { cron } = await first.call(sandboxCrons.CreateCron, { body });
    const { webhook } = await first.call(sandboxWebhooks.CreateWebhook, {
      body: { command: 'true', ...config },
    });
    const endpoint = await first.call(lifecycleWebhooks.CreateWebhookEndpoint, {
      body: { url: 'https://example.com/x' },
    });
    const attempts = [
      second.call(sandboxCrons.UpdateCron, { params: { id: cron?.id ?? '' }, body: { command: 'id' } }),
      second.call(sandboxCrons.DeleteCron, { params: { id: cron?.id ?? '' } }),
      second.call(sandboxWebhooks.UpdateWebhook, {
        params: { id: webhook?.id ?? '' },
        body: { command: 'id' },
      }),
      second.call(sandboxWebhooks.DeleteWebhook, { params: { id: webhook?.id ?? '' } }),
      second.call(lifecycleWebhooks.DeleteWebhookEndpoint, { params: { id: endpoint.id } }),
      second.call(lifecycleWebhooks.ListWebhookDeliveries, { params: { id: endpoint.id } }),
      second.call(lifecycleWebhooks.TestWebhookEndpoint, { params: { id: endpoint.id } }),
    ];
    for (const error of await Promise.all(attempts.map(refused))) expect(error).toMatchObject({ http: 404 });
    expect((await second.call(sandboxCrons.ListCrons)).crons).toEqual([]);
    expect((await second.call(sandboxWebhooks.ListWebhooks)).webhooks).toEqual([]);
    expect((await second.call(sandboxCrons.ListTriggers)).triggers).toEqual([]);
    expect((await second.call(lifecycleWebhooks.ListWebhookEndpoints)).webhooks).toEqual([]);
    expect((await first.call(sandboxCrons.ListCrons)).total).toBe(1);
  });

  test.each([
    'http://127.0.0.1/',
    'http://[::1]:80/',
    'http://2130706433/',
    'http://localhost/',
    'file:///etc/passwd',
    'http://a@b.example/',
    'x',
  ])('an endpoint at %s is refused, with the field named', async (url) => {
    const error = await refused(first.call(lifecycleWebhooks.CreateWebhookEndpoint, { body: { url } }));
    expect(error).toMatchObject({ http: 400, violations: [{ field: 'url' }] });
  });

  test('an endpoint of unknown events is refused; all events is the default', async () => {
    const body = { url: 'https://example.com/x', events: ['sandbox.exploded'] };
    expect(
      await refused(first.call(lifecycleWebhooks.CreateWebhookEndpoint, { body: body as never })),
    ).toMatchObject({ http: 400 });
    const all = await first.call(lifecycleWebhooks.CreateWebhookEndpoint, {
      body: { url: 'https://example.com/y', events: ['*'] },
    });
    expect(all).toMatchObject({ events: ['*'], hasSecret: true, secret: expect.stringMatching(/^whsec_/) });
    const { webhooks } = await first.call(lifecycleWebhooks.ListWebhookEndpoints);
    expect(JSON.stringify(webhooks)).not.toContain('whsec_');
  });
});
