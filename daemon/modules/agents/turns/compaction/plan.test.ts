import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ChatMessage } from '../../../gateway/index.ts';
import { blocksOf, type HeldMessage, isSystem, tokensIn } from './blocks.ts';
import {
  type CompactionPlan,
  type Conversation,
  compacted,
  mostSummaryTokens,
  planCompaction,
} from './plan.ts';

const user = (content = 'go on'): ChatMessage => ({ role: 'user', content });
const said = (content = 'done'): ChatMessage => ({ role: 'assistant', content });
const calls = (...ids: string[]): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({
    id,
    type: 'function',
    function: { name: 'sandbox_shell', arguments: '{}' },
  })),
});
const result = (id: string): ChatMessage => ({ role: 'tool', tool_call_id: id, content: 'ok' });
const system: ChatMessage = { role: 'system', content: 'be kind' };

/** Messages with so many tokens each. */
const held = (messages: readonly ChatMessage[], tokens = 100): HeldMessage[] =>
  messages.map((message, i) => ({ seq: i + 1, message, tokens }));
const talk = (turns: number) =>
  held([system, ...Array.from({ length: turns }, () => [user(), said()]).flat()]);
const seqs = (messages: readonly HeldMessage[] = []) => messages.map(({ seq }) => seq);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Plans for a context that is full to this share. */
const planAt = (fill: number, messages: readonly HeldMessage[], more: Partial<Conversation> = {}) =>
  planCompaction({ messages, enabled: true, contextTokens: Math.round(tokensIn(messages) / fill), ...more });

describe('the levels', () => {
  const messages = talk(30);

  test.each<[number, string | undefined, number[]]>([
    [0.5, undefined, []],
    [0.79, undefined, []],
    [0.81, 'early', range(2, 19)],
    [0.86, 'late', range(2, 37)],
    [0.96, 'cut', range(2, 21)],
    [3, 'cut', range(2, 47)],
  ])('at a fill of %p: %p', (fill, level, removed) => {
    const plan = planAt(fill, messages);
    expect(plan?.level).toBe(level as never);
    expect(seqs(plan?.removed)).toEqual(removed);
    if (plan) expect(plan).toMatchObject({ at: 2, kind: level === 'cut' ? 'cut' : 'summarise' });
  });

  test('of a conversation that may not be summarised only the cut holds', () => {
    for (const fill of [0.81, 0.86, 0.94]) expect(planAt(fill, messages, { enabled: false })).toBeUndefined();
    expect(planAt(0.96, messages, { enabled: false })?.kind).toBe('cut');
  });

  test('of a model whose context is not known nothing is planned', () => {
    expect(planAt(3, messages, { contextTokens: 0 })).toBeUndefined();
  });

  test.each([
    ['of a known context', 100_000],
    ['of an unknown one', 0],
  ])('what the model has refused is cut again and again, until nothing can go, %s', (_, contextTokens) => {
    let left: readonly HeldMessage[] = talk(30);
    const lengths = [left.length];
    for (;;) {
      const plan = planCompaction({ messages: left, contextTokens, enabled: true, isRefused: true });
      if (!plan) break;
      expect(plan.level).toBe('cut');
      left = compacted(left, plan);
      lengths.push(left.length);
    }
    expect(lengths).toEqual(lengths.toSorted((a, b) => b - a));
    expect(lengths[1]).toBe(41);
    expect(seqs(left)).toEqual([1, 60, 61]);
  });

  test('a level that has failed is left out until the next one is reached', () => {
    expect(planAt(0.81, messages, { failedAt: 'early' })).toBeUndefined();
    expect(planAt(0.86, messages, { failedAt: 'early' })?.level).toBe('late');
    expect(planAt(0.86, messages, { failedAt: 'late' })).toBeUndefined();
    expect(planAt(0.96, messages, { failedAt: 'late' })?.level).toBe('cut');
  });
});

describe('how full it is', () => {
  const messages = talk(10);
  const contextTokens = 4_000;

  test('follows the count of the model where there is one', () => {
    const at = (takenTokens: number) =>
      planCompaction({ messages, contextTokens, enabled: true, takenTokens })?.fill;
    expect(at(0)).toBeUndefined();
    expect(at(3_300)).toBeCloseTo(0.825);
    expect(at(1_000_000)).toBeCloseTo((4 * 2_100) / contextTokens);
  });

  test('counts what is sent beside the messages', () => {
    const fill = planCompaction({ messages, contextTokens, enabled: true, fixedTokens: 1_200 })?.fill;
    expect(fill).toBeCloseTo(3_300 / contextTokens);
  });

  test('corrects what came after the last answer by what that answer has shown', () => {
    const more = [...messages, { seq: 99, message: user(), tokens: 1_000 }];
    const fill = planCompaction({ messages: more, contextTokens, enabled: true, takenTokens: 2_520 })?.fill;
    expect(fill).toBeCloseTo((1.2 * 3_100) / contextTokens);
  });
});

describe('what stays word for word', () => {
  test('is what the user has said last, in the middle of a long turn', () => {
    const cycles = range(1, 10).flatMap((i) => [calls(`c${i}`), result(`c${i}`)]);
    const messages = held([system, user('the task'), ...cycles]);
    expect(seqs(planAt(0.86, messages)?.removed)).toEqual(range(3, 16));
    const cut = planAt(2, messages);
    expect(seqs(cut?.removed)).toEqual(range(3, 16));
  });

  test('is a call whose result is not there yet', () => {
    const messages = held([user(), calls('open'), user(), said(), user(), said(), user()]);
    expect(seqs(planAt(0.86, messages)?.removed)).toEqual([1, 3, 4, 5, 6]);
    expect(seqs(planAt(9, messages)?.removed)).toEqual([1, 3, 4, 5, 6]);
  });

  test('is an open call in the middle of what is cut', () => {
    const messages = held([
      user(),
      calls('open'),
      ...Array.from({ length: 40 }, () => [user(), said()]).flat(),
    ]);
    expect(seqs(planAt(0.96, messages)?.removed)).toEqual([1, ...range(3, 42)]);
  });

  test('is a summary, when the rest is cut', () => {
    const messages = talk(30).map((one) => (one.seq === 2 ? { ...one, isSummary: true } : one));
    expect(seqs(planAt(0.96, messages)?.removed)).toEqual(range(3, 21));
  });

  test('is everything when nothing can go', () => {
    expect(planAt(5, held([system, user('long')]))).toBeUndefined();
    expect(planAt(0.81, held([system, system, system]))).toBeUndefined();
  });
});

test('a result belongs to the answer before it, when ids are used again', () => {
  const messages = held([calls('c1', 'c2'), result('c1'), user(), said(), calls('c2'), result('c2')]);
  expect(blocksOf(messages).map(({ messages: its, isOpen }) => [seqs(its), isOpen])).toEqual([
    [[1, 2], true],
    [[3], false],
    [[4], false],
    [[5, 6], false],
  ]);
});

test('a summary that is not worth a call of a model is not made', () => {
  const small = held([user(), said(), user(), said(), user('a long paste')], 2);
  const messages = small.map((one) => (one.seq === 5 ? { ...one, tokens: 8_000 } : one));
  expect(planAt(0.81, messages)).toBeUndefined();
});

/** Conversations as they grow: turns with calls in parallel, with something said in between, and with a loose end. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.constant('talk') },
  { weight: 2, arbitrary: fc.constant('system') },
  { weight: 4, arbitrary: fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean(), fc.boolean()) },
);
const conversation = fc
  .tuple(
    fc.array(step, { maxLength: 40 }),
    fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1 }),
    fc.boolean(),
  )
  .map(([steps, sizes, hasLooseEnd]) => {
    // Some providers name the calls of every answer alike.
    const messages: ChatMessage[] = [system];
    for (const one of steps) {
      if (one === 'talk') messages.push(user(), said());
      else if (one === 'system') messages.push({ ...system });
      else {
        const [count, isSteered, isBackwards] = one as [number, boolean, boolean];
        const ids = range(1, count).map((i) => `call_${i}`);
        const results = (isBackwards ? ids.toReversed() : ids).map(result);
        messages.push(calls(...ids), ...results.slice(0, -1));
        if (isSteered) messages.push(user('and hurry'));
        messages.push(...results.slice(-1));
      }
    }
    if (hasLooseEnd) messages.push(calls('loose_1', 'loose_2'), result('loose_2'));
    return messages.map(
      (message, i): HeldMessage => ({ seq: i + 1, message, tokens: sizes[i % sizes.length] ?? 1 }),
    );
  });
const input = fc.record({
  messages: conversation,
  fill: fc.double({ min: 0.7, max: 4, noNaN: true }),
  fixedTokens: fc.integer({ min: 0, max: 500 }),
  enabled: fc.boolean(),
});
type Wanted = typeof input extends fc.Arbitrary<infer T> ? T : never;
const asked = ({ messages, fill, fixedTokens, enabled }: Wanted): Conversation => {
  const contextTokens = Math.max(1, Math.round((tokensIn(messages) + fixedTokens) / fill));
  return { messages, contextTokens, fixedTokens, enabled };
};

/** A summary as large as one may be. */
const summaryFor = ({ contextTokens }: Conversation, { removed }: CompactionPlan) => ({
  message: user('<summary>'),
  tokens: Math.min(mostSummaryTokens(contextTokens), tokensIn(removed) - 1),
});
const after = (conversation: Conversation, plan: CompactionPlan) =>
  compacted(
    conversation.messages,
    plan,
    plan.kind === 'summarise' ? summaryFor(conversation, plan) : undefined,
  );

/** Which answer each result belongs to, and each call whose result is missing. */
function pairs(messages: readonly HeldMessage[]) {
  const loose: string[] = [];
  const orphans: string[] = [];
  let open = new Set<string>();
  for (const { message } of messages) {
    if (message.role === 'assistant') {
      loose.push(...open);
      open = new Set(message.tool_calls?.map(({ id }) => id));
    } else if (message.role === 'tool' && !open.delete(message.tool_call_id ?? ''))
      orphans.push(message.tool_call_id ?? '');
  }
  return { loose: [...loose, ...open], orphans };
}

test('no plan parts a call from its result, touches an instruction, or leaves more than there was', () => {
  let planned = 0;
  fc.assert(
    fc.property(input, (wanted) => {
      const conversation = asked(wanted);
      const plan = planCompaction(conversation);
      if (!plan) return;
      planned++;
      const left = after(conversation, plan);
      expect(pairs(left)).toEqual(pairs(conversation.messages));
      expect(plan.removed.filter(isSystem)).toEqual([]);
      expect(tokensIn(left)).toBeLessThan(tokensIn(conversation.messages));
      expect(new Set(seqs(left)).size).toBe(left.length);
      expect(seqs(left)).toEqual(seqs(left).toSorted((a, b) => a - b));
      expect(left.at(-1)).toEqual(conversation.messages.at(-1) as HeldMessage);
      const request = conversation.messages.findLast(
        ({ message, seq }) => message.content === 'go on' && seq > 0,
      );
      if (request) expect(left).toContainEqual(request);
    }),
    { numRuns: 1_500 },
  );
  expect(planned).toBeGreaterThan(300);
});

test('the same rows give the same plan, and carrying plans out comes to an end', () => {
  fc.assert(
    fc.property(input, (wanted) => {
      let conversation = asked(wanted);
      const most = conversation.messages.length + 1;
      let rounds = 0;
      for (let plan = planCompaction(conversation); plan; plan = planCompaction(conversation)) {
        expect(planCompaction(structuredClone(conversation))).toEqual(plan);
        conversation = { ...conversation, messages: after(conversation, plan) };
        expect(++rounds).toBeLessThanOrEqual(most);
      }
    }),
    { numRuns: 500 },
  );
});

test('a cut leaves room whenever the last request, the newest answer and the instructions leave any', () => {
  fc.assert(
    fc.property(input, (wanted) => {
      const conversation = asked(wanted);
      const plan = planCompaction(conversation);
      if (plan?.kind !== 'cut') return;
      const left = after(conversation, plan);
      const fill = (tokensIn(left) + wanted.fixedTokens) / conversation.contextTokens;
      if (fill >= 0.95) expect(planCompaction({ ...conversation, messages: left })).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});
