import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { NetworkPolicy } from '../driver.ts';
import { findProgram, run } from '../host/run.ts';
import { type Block, formatAddress, formatBlock, parseBlock } from './address.ts';
import { blocksOf, policyOf } from './policy.ts';
import { Rules } from './rules.ts';
import { MAX_LEARNT_OF_BOX, type RulesetSpec } from './ruleset.ts';

const missing =
  process.getuid?.() === 0 ? ['nft', 'ip', 'nsenter'].find((name) => !findProgram(name)) : 'root';
const subnet = parseBlock('10.200.16.0/20') as Block;
const CIDRS = ['8.8.0.0/16', '8.8.8.0/24', '9.9.9.9/32', '11.0.0.0/8'];
const NAMES = ['a.test', 'b.test'];

describe.skipIf(missing !== undefined)(`the rules in the kernel${missing ? ` (no ${missing})` : ''}`, () => {
  const netns = `svcrules-${crypto.randomUUID().slice(0, 6)}`;
  const enter = ['nsenter', `--net=/run/netns/${netns}`] as const;
  const nft = (...words: string[]) => run([...enter, 'nft', ...words]);
  const spec = (table: string): RulesetSpec => ({
    table,
    bridge: 'svcrules',
    subnet,
    connected: [],
    dnsPort: 5353,
    owned: { portPrefix: 'vrules', hardwareAddress: '02:00:00:00:00:01' },
  });
  beforeAll(async () => {
    await run(['ip', 'netns', 'add', netns]);
  });
  afterAll(async () => {
    await run(['ip', 'netns', 'del', netns]);
  });

  const elements = async (table: string, family: 'inet' | 'bridge', set: string) => {
    const text = await nft('-j', 'list', 'set', family, table, set);
    const { nftables } = JSON.parse(text) as { nftables: Array<{ set?: { elem?: unknown[] } }> };
    return nftables
      .flatMap(({ set }) => set?.elem ?? [])
      .map(wordsOf)
      .sort();
  };
  const kernel = async (table: string) => ({
    ports: await elements(table, 'bridge', 'ports'),
    open: await elements(table, 'inet', 'open'),
    blocks: await elements(table, 'inet', 'blocks'),
    learnt: await elements(table, 'inet', 'learnt'),
  });
  const newRules = async () => {
    const table = `svc_${crypto.randomUUID().slice(0, 8)}`;
    const rules = new Rules(
      table,
      () => enter,
      () => {},
    );
    await rules.hold(spec(table));
    return { table, rules };
  };

  type Step =
    | { readonly kind: 'put'; readonly box: number; readonly cable: number; readonly policy: NetworkPolicy }
    | { readonly kind: 'drop'; readonly box: number }
    | { readonly kind: 'learn'; readonly box: number; readonly name: string; readonly address: number }
    | { readonly kind: 'wipe' };

  const box = fc.integer({ min: 2, max: 4 });
  const policy = fc.record({
    mode: fc.constantFrom('allow' as const, 'whitelist' as const, 'deny' as const),
    allowCidrs: fc.uniqueArray(fc.constantFrom(...CIDRS), { maxLength: 3 }),
    allowHosts: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 }),
  });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('put' as const), box, cable: fc.nat(1), policy }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), box }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('learn' as const),
        box,
        name: fc.constantFrom(...NAMES),
        address: fc.integer({ min: 1, max: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'wipe' as const }) },
  );

  test('are what was asked for, after any changes, also when somebody wipes them out in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
        const { table, rules } = await newRules();
        const model: Model = new Map();
        for (const one of steps) {
          if (one.kind === 'wipe') await nft('flush', 'ruleset');
          else await apply(rules, model, one);
        }
        await rules.hold(spec(table));
        expect(await kernel(table)).toEqual(expected(model));
        await rules.remove();
      }),
      { numRuns: Number(process.env.SVC_TEST_RULES ?? 15) },
    );
  }, 120_000);

  test('are changed by many at once in few transactions', async () => {
    const { table, rules } = await newRules();
    const boxes = Array.from({ length: 300 }, (_, i) => ({
      address: subnet.base + 2 + i,
      port: `vrules${i}`,
      policy: { ...policyOf('allow'), allowCidrs: ['11.0.0.0/8'] },
    }));
    await Promise.all(boxes.map((one, i) => rules.put(`box${i}`, one)));
    expect((await kernel(table)).open).toHaveLength(300);
    await Promise.all(boxes.map(({ address }) => rules.drop(address)));
    expect(await kernel(table)).toEqual({ ports: [], open: [], blocks: [], learnt: [] });
    await rules.remove();
  }, 60_000);

  test('keep what names opened when the next daemon takes over, as far as its policy still says so', async () => {
    const { table, rules } = await newRules();
    const policy = { ...policyOf('whitelist'), allowHosts: NAMES };
    const one = { address: subnet.base + 2, port: 'vrules1', policy };
    await rules.put('box', one);
    await rules.learn(one.address, 'a.test', [1]);
    await rules.learn(one.address, 'b.test', [2]);
    const next = new Rules(
      table,
      () => enter,
      () => {},
    );
    next.adopt('box', { ...one, policy: { ...policy, allowHosts: ['b.test'] } });
    await next.hold(spec(table));
    expect((await kernel(table)).learnt).toEqual(['10.200.16.2 0.0.0.2']);
    await next.remove();
  });

  test('have a bounded number of addresses that names opened for a box', async () => {
    const { rules } = await newRules();
    const address = subnet.base + 2;
    await rules.put('box', {
      address,
      port: 'vrules1',
      policy: { ...policyOf('whitelist'), allowHosts: NAMES },
    });
    const many = Array.from({ length: MAX_LEARNT_OF_BOX }, (_, i) => i + 1);
    expect(await rules.learn(address, 'a.test', many)).toBe(true);
    expect(await rules.learn(address, 'a.test', [MAX_LEARNT_OF_BOX + 1])).toBe(false);
    expect(await rules.learn(address, 'else.test', [1])).toBe(false);
    await rules.remove();
  });

  type Model = Map<number, { port: string; policy: NetworkPolicy; learnt: Map<number, Set<string>> }>;

  async function apply(rules: Rules, model: Model, one: Exclude<Step, { kind: 'wipe' }>): Promise<void> {
    const address = subnet.base + one.box;
    const known = model.get(one.box);
    if (one.kind === 'drop') {
      model.delete(one.box);
      await rules.drop(address);
    } else if (one.kind === 'learn') {
      const allowed = known?.policy.mode === 'whitelist' && known.policy.allowHosts.includes(one.name);
      if (allowed) known.learnt.set(one.address, (known.learnt.get(one.address) ?? new Set()).add(one.name));
      const isOpen = known?.policy.mode === 'allow';
      expect(await rules.learn(address, one.name, [one.address])).toBe(isOpen || allowed);
    } else {
      const port = `vrules${one.box}x${one.cable}`;
      const learnt = new Map<number, Set<string>>();
      if (known?.port === port && one.policy.mode === 'whitelist')
        for (const [to, names] of known.learnt) {
          const left = new Set([...names].filter((name) => one.policy.allowHosts.includes(name)));
          if (left.size > 0) learnt.set(to, left);
        }
      model.set(one.box, { port, policy: one.policy, learnt });
      await rules.put(`box${one.box}`, { address, port, policy: one.policy });
    }
  }

  function expected(model: Model) {
    const boxes = [...model].map(([box, rest]) => ({ own: formatAddress(subnet.base + box), ...rest }));
    return {
      ports: boxes.map(({ own, port }) => `${port} ${own}`).sort(),
      open: boxes.flatMap(({ own, policy }) => (policy.mode === 'allow' ? [own] : [])).sort(),
      blocks: boxes
        .flatMap(({ own, policy }) =>
          blocksOf(policy.allowCidrs).map((block) => `${own} ${formatBlock(block).replace('/32', '')}`),
        )
        .sort(),
      learnt: boxes
        .flatMap(({ own, learnt }) => [...learnt.keys()].map((to) => `${own} ${formatAddress(to)}`))
        .sort(),
    };
  }
});

/** An element as `nft -j` prints it, in words. */
function wordsOf(element: unknown): string {
  if (typeof element === 'string') return element;
  const { elem, val, concat, prefix } = element as {
    elem?: { val: unknown };
    val?: unknown;
    concat?: unknown[];
    prefix?: { addr: string; len: number };
  };
  if (elem) return wordsOf(elem.val);
  if (val) return wordsOf(val);
  if (prefix) return `${prefix.addr}/${prefix.len}`;
  return (concat ?? []).map(wordsOf).join(' ');
}
