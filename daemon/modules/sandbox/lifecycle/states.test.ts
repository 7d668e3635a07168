import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { LIFECYCLE_STATES } from '../../../../src/api/sandbox/lifecycle.ts';
import { allows, type Operation, type State, statesOf, statusOf, TRANSITIONS, wrongState } from './states.ts';

const operations = Object.keys(TRANSITIONS) as Operation[];

test('terminated is the end: nothing leads out of it', () => {
  for (const operation of operations) expect(allows(operation, 'terminated')).toBe(false);
});

test('from every state but terminated there is a way to be terminated', () => {
  const stuck = LIFECYCLE_STATES.filter((state) => !allows('terminate', state));
  expect(stuck).toEqual(['terminated']);
});

test('no sequence of operations runs commands in a sandbox that does not run', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...operations)), (sequence) => {
      let state: State = 'running';
      for (const operation of sequence) {
        if (allows(operation, state)) state = TRANSITIONS[operation].to ?? state;
        expect(allows('use', state)).toBe(state === 'running');
      }
    }),
  );
});

describe('a refusal is 409, code 9, and names the state and the way out', () => {
  test.each([
    ['sleeping', 'use', 'svc sandbox revive sbx_1'],
    ['running', 'revive', 'svc sandbox stop sbx_1'],
    ['archived', 'use', 'restore'],
    ['terminated', 'stop', 'svc sandbox create'],
  ] as const)('%s, %s', (state, operation, hint) => {
    const error = wrongState('sbx_1', state, operation);
    expect(error).toMatchObject({ http: 409, rpc: 9 });
    expect(error.message).toContain(state);
    expect(error.hint).toContain(hint);
  });
});

test('a status stands for exactly the states that answer it', () => {
  for (const state of LIFECYCLE_STATES) expect(statesOf(statusOf(state))).toContain(state);
  expect(statesOf(undefined)).toHaveLength(LIFECYCLE_STATES.length);
  expect(statesOf('SANDBOX_STATUS_FAILED')).toEqual(['failed']);
});
