import { describe, expect, test } from 'bun:test';
import { Value } from '@sinclair/typebox/value';
import { t } from '../schema.ts';
import { compatAgents } from './agents.ts';
import { camelCased, camelKey } from './camel-case.ts';
import { compatAgentsRpc } from './rpc.ts';
import { compatTurns } from './turns.ts';

describe('camelCased', () => {
  test.each([
    ['id', 'id'],
    ['session_id', 'sessionId'],
    ['last_active_at', 'lastActiveAt'],
    ['sha_256', 'sha256'],
  ])('spells %s as %s', (key, expected) => {
    expect(camelKey(key)).toBe(expected);
  });

  test('renames fields at every depth and leaves the keys of maps alone', () => {
    const schema = camelCased(
      t.Object({
        turn_id: t.String(),
        parts: t.Array(t.Union([t.Null(), t.Object({ image_url: t.Optional(t.String()) })])),
        labels: t.Record(t.String(), t.String()),
      }),
    );
    const value: typeof schema.static = { turnId: 'a', parts: [{ imageUrl: 'b' }], labels: { a_b: 'c' } };
    expect(Value.Check(schema, value)).toBe(true);
    expect(Value.Check(schema, { turn_id: 'a', parts: [], labels: {} })).toBe(false);
  });
});

describe('the RPC style', () => {
  test('puts path, query and body in one message', () => {
    const { body } = compatAgentsRpc.UpdateAgent;
    expect(Object.keys(body.properties)).toEqual(
      expect.arrayContaining(['agentId', 'multiAgent', 'serviceTier', 'model']),
    );
    expect(body.required).toEqual(['agentId']);
  });

  test('answers the same shape as REST, in camelCase', () => {
    const fields = Object.keys(compatAgents.GetAgent.response.properties).map(camelKey);
    expect(Object.keys(compatAgentsRpc.GetAgent.response.properties)).toEqual(fields);
  });

  test('keeps the parameters of lists', () => {
    const { body } = compatAgentsRpc.ListTurnItems;
    const { params, query } = compatTurns.ListTurnItems;
    expect(Object.keys(body.properties)).toEqual([
      ...Object.keys(params.properties),
      ...Object.keys(query.properties),
    ]);
  });

  test('takes every operation at an address of its own service', () => {
    for (const [id, { path, method, spec }] of Object.entries(compatAgentsRpc)) {
      const place: string[] = [method, path, spec];
      expect(place).toEqual(['POST', `/svc.compat_agents.v1.CompatAgentsService/${id}`, 'compat-agents']);
    }
  });
});
