import { afterAll, expect, test } from 'bun:test';
import { endpoint } from '../../src/api/endpoint.ts';
import { object, t } from '../../src/api/schema.ts';
import { fail } from '../../src/errors/app-error.ts';
import { Wire } from '../../test/support/wire.ts';
import { silentLog } from '../log/log.ts';
import { createMetrics } from '../metrics/metrics.ts';
import type { HostedSite } from './hosted.ts';
import type { Idempotency } from './idempotency.ts';
import { listen, mount } from './mount.ts';
import { implement } from './route.ts';

const group = {
  Ask: endpoint({
    spec: 'extra',
    tag: 'Test',
    summary: 'A test',
    access: 'viewer',
    id: 'Ask',
    method: 'GET',
    path: '/v1/ask',
    response: object('Reply', { said: t.String() }),
  }),
} as const;

const site: HostedSite = {
  answers: (host) => host.endsWith('.sites.example'),
  visit: async ({ request, peer }) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/broken') throw new Error('the database password is hunter2');
    return new Response(`site ${request.method} ${pathname} ${peer}`);
  },
};

let admitted = 0;
const listening = await listen(
  mount({
    operations: Object.values(group),
    routes: implement(group, { Ask: () => ({ said: 'instance' }) }),
    gate: {
      admit() {
        admitted++;
        return { tenant: 'org_a', role: 'owner', actor: 'usr_a', via: 'cookie' };
      },
      checkHost(request) {
        const host = request.headers.get('host') ?? '';
        if (host !== 'instance') throw fail('misdirected', { host });
      },
    },
    idempotency: undefined as unknown as Idempotency,
    metrics: createMetrics(),
    log: silentLog,
    page: () => new Response('page'),
    sites: [site],
  }),
  '127.0.0.1',
  0,
);
const wire = new Wire(`http://127.0.0.1:${listening.port}`);
afterAll(async () => {
  wire.close();
  await listening.stop(100);
});

const ask = (host: string, target: string, method = 'GET') =>
  wire.send({ method, target, headers: [['host', host]] });

test.each([
  ['GET', '/v1/ask'],
  ['GET', '/'],
  ['POST', '/v1/ask'],
  ['DELETE', '/anything'],
  ['PROPFIND', '/dav'],
])('%s %s at a host of a site reaches the site alone', async (method, path) => {
  const before = admitted;
  const answer = await ask('a.sites.example', path, method);
  expect(answer).toMatchObject({ status: 200, text: `site ${method} ${path} 127.0.0.1` });
  expect(admitted).toBe(before);
});

test('other hosts are for the instance', async () => {
  expect((await ask('instance', '/v1/ask')).text).toBe('{"said":"instance"}');
  expect((await ask('instance', '/')).text).toBe('page');
  expect((await ask('sites.example', '/')).status).toBe(421);
});

test('what breaks in a site shows nothing of itself', async () => {
  const answer = await ask('a.sites.example', '/broken');
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain('hunter2');
});
