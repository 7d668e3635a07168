import { expect, test } from 'bun:test';
import { readParams, toRouterPath } from './path.ts';

test('parameters are positional in the router and have their names in the call', () => {
  const path = toRouterPath('/v1/things/{thingId}/parts/{id}');
  expect(path.pattern).toBe('/v1/things/:p0/parts/:p1');
  expect(readParams(path, { p0: 'a', p1: 'b' })).toEqual({ thingId: 'a', id: 'b' });
});

test('text behind a parameter belongs to the path', () => {
  const path = toRouterPath('/openapi/{spec}.json');
  expect(readParams(path, { p0: 'agents.json' })).toEqual({ spec: 'agents' });
  expect(readParams(path, { p0: 'compat-agents-rest.source.json' })).toEqual({
    spec: 'compat-agents-rest.source',
  });
  expect(readParams(path, { p0: 'agents' })).toBeUndefined();
});
