import { expect, test } from 'bun:test';
import type { Caller } from '../../../http/route.ts';
import { openTestApp } from '../../../testing/app.ts';
import { ModelRouteService } from './service.ts';
import { ModelRouteStore } from './store.ts';

const alice: Caller = { tenant: 'org_a', role: 'admin', actor: 'key_a', via: 'api-key' };
const bob: Caller = { ...alice, tenant: 'org_b' };

function open() {
  const clock = { now: () => 1000 };
  const app = openTestApp(clock, { 'data.dir': '/nonexistent' });
  const store = new ModelRouteStore(app.db);
  const service = () => new ModelRouteService(app, store, () => ['openai', 'groq']);
  return { app, service };
}

const fast = { targets: [{ provider: 'groq', model: 'llama' }] };

test('a route is there at once, and after a restart', () => {
  const { service } = open();
  const made = service().put(alice, 'fast', { ...fast, strategy: 'weighted' });
  expect(made).toEqual({
    name: 'fast',
    strategy: 'weighted',
    targets: [{ provider: 'groq', model: 'llama', parameters: {}, weight: 1 }],
    createdAt: 1000,
    updatedAt: 1000,
  });
  expect(service().find('org_a', 'fast')).toEqual(made);
});

test('a route belongs to one tenant', () => {
  const { service } = open();
  const routes = service();
  routes.put(alice, 'fast', fast);
  expect(routes.find('org_b', 'fast')).toBeUndefined();
  expect(routes.list('org_b')).toEqual([]);
  expect(() => routes.remove(bob, 'fast')).toThrow('no model route "fast"');
  expect(routes.find('org_a', 'fast')).toBeDefined();
});

test('a route is replaced, and is gone when it was removed', () => {
  const { service } = open();
  const routes = service();
  routes.put(alice, 'fast', fast);
  routes.put(alice, 'fast', {
    targets: [{ provider: 'openai', model: 'gpt', parameters: { temperature: 0 } }],
  });
  expect(routes.list('org_a').map(({ targets }) => targets[0]?.model)).toEqual(['gpt']);
  routes.remove(alice, 'fast');
  expect(routes.list('org_a')).toEqual([]);
  expect(service().list('org_a')).toEqual([]);
});

test.each([
  ['a b', fast, 'name'],
  ['x', { targets: [{ provider: 'grok', model: 'm' }] }, 'targets.0.provider'],
  [
    'x',
    { targets: [{ provider: 'groq', model: 'm', parameters: { model: 'other' } }] },
    'targets.0.parameters.model',
  ],
  [
    'x',
    { targets: [{ provider: 'groq', model: 'm', parameters: { stream: true } }] },
    'targets.0.parameters.stream',
  ],
])('%j %j is refused, naming %s, and changes nothing', (name, wanted, field) => {
  const { service } = open();
  const routes = service();
  expect(() => routes.put(alice, name, wanted)).toThrow(field);
  expect(routes.list('org_a')).toEqual([]);
});
