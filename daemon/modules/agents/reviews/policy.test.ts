import { describe, expect, test } from 'bun:test';
import type { Agent, ApprovalSettings, PermissionMode } from '../definitions/agent.ts';
import type { Permission } from './face.ts';
import { policy } from './policy.ts';

const agent = (permissionMode: PermissionMode, approval: Partial<ApprovalSettings> = {}) =>
  ({
    permissionMode,
    config: {
      approval: { tools: [], matchMode: 'glob', timeoutMs: 1_000, defaultAction: 'deny', ...approval },
    },
  }) as unknown as Agent;

const writes = { name: 'sandbox_shell' };
const reads = { name: 'sandbox_read_file', isRead: true } as const;
const asks = { name: 'ask_user', asks: true } as const;

describe('without rules the mode decides', () => {
  test.each<[PermissionMode, Permission, Permission]>([
    ['rules', 'run', 'run'],
    ['always', 'run', 'run'],
    ['ask', 'ask', 'run'],
    ['deny', 'refuse', 'run'],
  ])('%s: what changes something is %s, what looks is %s', (mode, change, look) => {
    expect(policy(agent(mode), writes)).toBe(change);
    expect(policy(agent(mode), reads)).toBe(look);
    expect(policy(agent(mode), asks)).toBe('run');
  });
});

test.each<[PermissionMode]>([['rules'], ['always'], ['ask'], ['deny']])(
  'in the mode %s a rule that means a tool wins, also over one that only looks',
  (mode) => {
    const ruled = agent(mode, { tools: ['web_*', 'sandbox_*'] });
    expect(policy(ruled, writes)).toBe('ask');
    expect(policy(ruled, reads)).toBe('ask');
  },
);

test('a tool that asks a person is never held, whatever the rules are', () => {
  expect(policy(agent('ask', { tools: ['*'] }), asks)).toBe('run');
});

test.each<[ApprovalSettings['matchMode'], string, Permission]>([
  ['exact', 'sandbox_shell', 'ask'],
  ['exact', 'sandbox', 'run'],
  ['prefix', 'sandbox', 'ask'],
  ['prefix', 'shell', 'run'],
  ['glob', '*_shell', 'ask'],
  ['glob', 'shell', 'run'],
])('rules are read as %s: %s', (matchMode, pattern, expected) => {
  expect(policy(agent('rules', { matchMode, tools: ['nothing', pattern] }), writes)).toBe(expected);
});
