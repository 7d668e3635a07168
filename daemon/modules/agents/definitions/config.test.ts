import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AppError } from '../../../../src/errors/app-error.ts';
import { misspelt, readConfig } from './config.ts';

const fieldsOf = (config: Record<string, unknown>): string[] => {
  try {
    readConfig(config);
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.violations.map(({ field }) => field);
  }
};

describe('the free-form config of an agent', () => {
  test('says nothing: everything has a value', () => {
    expect(readConfig({})).toEqual({
      lifecycle: 'ephemeral',
      identity: [],
      model: {},
      fallbackModels: [],
      approval: { tools: [], matchMode: 'glob', timeoutMs: 3_600_000, defaultAction: 'deny' },
      sandbox: {},
      spawn: { agents: [], async: false, maxConcurrentJobs: 4, maxDepth: 3, maxNodes: 32, maxTokens: 0 },
      compaction: { enabled: false, model: '', contextTokens: 0 },
    });
  });

  test('is read in camelCase and in snake_case, and words in any case', () => {
    const snake = {
      lifecycle: 'Persistent',
      soul_md: 'soul',
      role_md: 'role',
      user_md: ' ',
      identity_md: 'identity',
      top_p: 0.5,
      max_tokens: 10,
      reasoning_effort: 'high',
      temperature: 0,
      fallback: { models: ['a/b'] },
      approval: { tools: ['x'], match_mode: 'PREFIX', timeout_seconds: 5, default_action: 'Approve' },
      sandbox: {
        cpu_limit: 0.5,
        memory_mb: 64,
        disk_mb: 65,
        timeout_seconds: 66,
        network_mode: 'DENY',
        env_vars: { A: 'b' },
      },
      spawn: {
        agents: ['b'],
        async: true,
        max_concurrent_jobs: 1,
        max_depth: 0,
        max_nodes: 2,
        max_tokens: 3,
      },
      monitor: { enabled: true, model: 'm', context_tokens: 9 },
      anything: { else: [1] },
    };
    const read = readConfig(snake);
    expect(read).toEqual({
      lifecycle: 'persistent',
      identity: ['soul', 'identity', 'role'],
      model: { temperature: 0, topP: 0.5, maxTokens: 10, reasoningEffort: 'high' },
      fallbackModels: ['a/b'],
      approval: { tools: ['x'], matchMode: 'prefix', timeoutMs: 5_000, defaultAction: 'approve' },
      sandbox: {
        cpuLimit: 0.5,
        memoryMb: 64,
        diskMb: 65,
        timeoutSeconds: 66,
        networkMode: 'deny',
        env: { A: 'b' },
      },
      spawn: { agents: ['b'], async: true, maxConcurrentJobs: 1, maxDepth: 0, maxNodes: 2, maxTokens: 3 },
      compaction: { enabled: true, model: 'm', contextTokens: 9 },
    });
    expect(readConfig(camel(snake) as Record<string, unknown>)).toEqual(read);
    expect(misspelt(snake)).toEqual([]);
  });

  test.each<[string, Record<string, unknown>, string[]]>([
    ['another lifecycle', { lifecycle: 'eternal' }, ['config.lifecycle']],
    ['a hot temperature', { temperature: 2.1 }, ['config.temperature']],
    ['no tokens', { max_tokens: 0 }, ['config.maxTokens']],
    ['an effort with blanks', { reasoningEffort: 'a b' }, ['config.reasoningEffort']],
    ['a text that is none', { soulMd: 1 }, ['config.soulMd']],
    ['an empty model', { fallback: { models: [''] } }, ['config.fallback.models.0']],
    [
      'two lists of models',
      { fallback: { models: ['a'] }, fallbackModels: ['b'] },
      ['config.fallbackModels'],
    ],
    ['rules that are none', { approval: { tools: 'all' } }, ['config.approval.tools']],
    ['another action', { approval: { defaultAction: 'ask' } }, ['config.approval.defaultAction']],
    ['no time to approve', { approval: { timeoutSeconds: 0 } }, ['config.approval.timeoutSeconds']],
    ['a section that is none', { approval: true }, ['config.approval']],
    ['another network', { sandbox: { networkMode: 'open' } }, ['config.sandbox.networkMode']],
    ['no cores', { sandbox: { cpu_limit: 0 } }, ['config.sandbox.cpuLimit']],
    ['a variable that is none', { sandbox: { env_vars: { 'A-B': 'c' } } }, ['config.sandbox.envVars.A-B']],
    ['a variable that is a number', { sandbox: { envVars: { A: 1 } } }, ['config.sandbox.envVars.A']],
    ['too deep a tree', { spawn: { maxDepth: 17 } }, ['config.spawn.maxDepth']],
    ['a key twice', { top_p: 1, topP: 1 }, ['config.topP']],
    ['an inner key twice', { spawn: { max_depth: 1, maxDepth: 1 } }, ['config.spawn.maxDepth']],
    ['many characters', { notes: 'x'.repeat(270_000) }, ['config']],
    ['many levels', nested(40), ['config']],
  ])('is refused with %s', (_, config, fields) => {
    expect(fieldsOf(config)).toEqual(fields);
  });

  test('may hold null for what it does not say', () => {
    expect(readConfig({ approval: null, temperature: null, spawn: { agents: null } })).toEqual(
      readConfig({}),
    );
  });

  test('is read or refused by name, whatever it holds', () => {
    const key = fc.constantFrom(
      ...['lifecycle', 'approval', 'sandbox', 'spawn', 'monitor', 'fallback', 'tools', 'models', 'top_p'],
      ...['maxDepth', 'max_depth', 'env_vars', 'toString', '__proto__', 'constructor', 'x'],
    );
    const { tree } = fc.letrec<{ tree: unknown; object: Record<string, unknown> }>((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 1 }), tie('object')),
      object: fc.dictionary(key, tie('tree') as fc.Arbitrary<unknown>, { maxKeys: 6 }),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, tree, { maxKeys: 8 }), (config) => {
        const before = JSON.stringify(config);
        for (const field of fieldsOf(config)) expect(field).toStartWith('config');
        expect(misspelt(config)).toBeArray();
        expect(JSON.stringify(config)).toBe(before);
      }),
      { numRuns: 500 },
    );
  });
});

function nested(levels: number): Record<string, unknown> {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}

function camel(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camel(inner),
    ]),
  );
}
