import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Violation, type WireMessage } from './messages.ts';
import { answerTo, type NextAnswer } from './player.ts';
import { hasScript, parseScript } from './script.ts';

const once = () => 0;

/** A loop that works: it answers each call with what `run` says, until there are none. */
function converse(script: string, run: (tool: string, args: string) => string = () => 'fine'): WireMessage[] {
  const messages: WireMessage[] = [
    { role: 'system', content: 'You help.' },
    { role: 'user', content: script },
  ];
  for (;;) {
    const next = answerTo(messages, once);
    messages.push(spoken(next));
    for (const { id, function: made } of next.calls)
      messages.push({ role: 'tool', tool_call_id: id, content: run(made.name, made.arguments) });
    if (next.calls.length === 0) return messages;
  }
}

const spoken = ({ text, calls }: NextAnswer): WireMessage => ({
  role: 'assistant',
  content: text || null,
  ...(calls.length > 0 ? { tool_calls: calls } : {}),
});

const said = (messages: readonly WireMessage[]) => messages.at(-1)?.content;

const refusal = (messages: readonly WireMessage[]) => {
  try {
    answerTo(messages, once);
  } catch (error) {
    if (error instanceof Violation) return error.message;
    throw error;
  }
  return 'no violation';
};

describe('a script', () => {
  test('is found where a line begins with its marker, and ends where it says', () => {
    expect(hasScript('Task: #!script')).toBe(false);
    const { key, tools, steps } = parseScript('A task:\n#!script key=a tools=y,x\nsay hi\n#!end\nmore');
    expect({ key, tools, steps: steps.length }).toEqual({ key: 'a', tools: ['x', 'y'], steps: 1 });
  });

  test.each([
    ['jump', 'it means nothing'],
    ['expect /a/', 'no call above'],
    ['& call x {}', 'no call above'],
    ['call x {', 'JSON'],
    ['call x {}\nexpect a', 'pattern'],
    ['repeat 6000 call x {}', 'more than 5000'],
  ])('that says %p is refused with its line', (body, words) => {
    expect(() => parseScript(`#!script\n${body}`)).toThrow(words);
    expect(refusal([{ role: 'user', content: `#!script\n${body}` }])).toContain('line');
  });

  test('chooses by results, remembers what it has read, and repeats', () => {
    const script = `#!script
call make {"what":"job"}
expect /id: (?<job>\\S+)/
unless /denied/ repeat 2 call check {"id":"{{job}}","n":{{i}}}
if /denied/ say no
say {{job}} is done`;
    const calls: string[] = [];
    const messages = converse(script, (tool, args) => {
      calls.push(`${tool} ${args}`);
      return 'id: j"7';
    });
    expect(calls.slice(1)).toEqual(['check {"id":"j\\"7","n":1}', 'check {"id":"j\\"7","n":2}']);
    expect(said(messages)).toBe('j"7 is done');
    const denied = converse('#!script\ncall make {}\nif /denied/ say no\nsay yes', () => 'denied');
    expect(said(denied)).toBe('no');
  });

  test('goes on when somebody says more, and a new one begins anew', () => {
    const messages = converse('#!script key=a\nsay one\nsteer /louder/\nsay two');
    expect(said(messages)).toBe('one');
    const louder = [...messages, { role: 'user', content: 'louder' }];
    expect(answerTo(louder, once).text).toBe('two');
    expect(refusal([...messages, { role: 'user', content: 'quieter' }])).toContain(
      'the steer does not match',
    );
    const anew = answerTo([...louder, { role: 'user', content: '#!script key=b\nsay new' }], once);
    expect([anew.text, anew.place]).toEqual(['new', 'b_1_0']);
  });

  test('that was cut off in the middle may be followed by the next, once all its calls are answered', () => {
    const messages = converse('#!script key=a\ncall x {}\nexpect /fine/\nsay one two three');
    const next = { role: 'user', content: '#!script key=b\nsay next' };
    const cancelled = [...messages.slice(0, 3), { ...messages[3], content: 'cancelled' } as WireMessage];
    expect(answerTo([...cancelled, next], once).text).toBe('next');
    expect(refusal([...messages.slice(0, 3), next])).toContain('has no result');
    const halfSaid = [...messages.slice(0, 4), { role: 'assistant', content: 'one two ' }];
    expect(answerTo([...halfSaid, next], once).text).toBe('next');
    expect(refusal(halfSaid)).toContain('the model’s own');
  });

  test('whose beginning is gone is read from where it can be recognized', () => {
    const body = '#!script compacts key=c\ncall x {"n":1}\ncall x {"n":2}\ncontext /keep-blue/\nsay end';
    const script = { role: 'system', content: body };
    const whole = converse(body.replace('context', '# ')).slice(1);
    const summary = { role: 'user', content: 'In short: keep-blue' };
    expect(answerTo([script, summary, ...whole.slice(3, 5)], once).text).toBe('end');
    expect(refusal([script, ...whole.slice(3, 5)])).toContain('keep-blue');
  });
});

describe('a loop that is broken', () => {
  const script =
    '#!script\ncall a {"x":1}\n& call b {"y":2}\ncall c {}\nexpect /fine/\nreject /error/\nsay end';
  const [system, user, two, resultA, resultB, one, resultC] = converse(script) as [
    WireMessage,
    WireMessage,
    WireMessage,
    WireMessage,
    WireMessage,
    WireMessage,
    WireMessage,
  ];
  const changed = (message: WireMessage, id?: string, args?: string): WireMessage => ({
    ...message,
    tool_calls: message.tool_calls?.map((call) => ({
      ...call,
      id: id ?? call.id,
      function: { ...call.function, arguments: args ?? call.function.arguments },
    })),
  });

  test.each<[string, WireMessage[], string]>([
    ['forgets a result', [two, resultA], 'has no result'],
    ['swaps results', [two, resultB, resultA], 'is missing'],
    ['gives a result twice', [two, resultA, resultB, resultB], 'a result without a call'],
    ['gives one result to both', [two, resultA, resultA], 'is missing'],
    ['forgets an answer', [resultA, resultB], 'a result without a call'],
    ['forgets a whole cycle', [one, resultC], 'calls'],
    ['repeats a cycle', [two, resultA, resultB, two, resultA, resultB], 'calls'],
    ['changes arguments', [changed(two, undefined, '{}'), resultA, resultB], 'the arguments of'],
    ['changes ids', [changed(one, 'c_1'), resultC], 'calls'],
    ['speaks between call and result', [two, resultA, { role: 'user', content: 'x' }, resultB], 'no result'],
    ['speaks as nobody', [{ role: 'function', content: 'x' }], 'is unknown'],
    ['sends no text', [two, { ...resultA, content: { a: 1 } }, resultB], 'is no text'],
    [
      'asks after the end',
      [two, resultA, resultB, one, resultC, { role: 'assistant', content: 'end' }],
      'own',
    ],
    [
      'fails where it must not',
      [two, resultA, resultB, one, { ...resultC, content: 'error' }],
      'does not match',
    ],
  ])('%s and is told', (_, rest, words) => {
    expect(refusal([system, user, ...rest])).toContain(words);
  });

  test('asks again and mixes both answers', () => {
    const [first, second] = [0, 1].map((n) => answerTo([user], () => n).calls);
    expect(first?.[0]?.id).not.toBe(second?.[0]?.id);
    const calls = [first?.[0], second?.[1]] as typeof two.tool_calls;
    const results = calls?.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'fine' })) ?? [];
    expect(refusal([user, { ...two, tool_calls: calls }, ...results])).toContain('two answers are mixed');
  });

  const step = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 });
  const scripts = fc
    .array(step, { minLength: 1, maxLength: 5 })
    .map((steps) =>
      [
        '#!script',
        ...steps.map((tools, i) => tools.map((tool) => `call ${tool} {"n":${i}}`).join('\n& ')),
        'say end',
      ].join('\n'),
    );

  test('cannot leave out, double or swap any message of any conversation', () => {
    fc.assert(
      fc.property(scripts, fc.nat(), fc.constantFrom('leave out', 'double', 'swap'), (text, seed, how) => {
        const messages = converse(text);
        expect(said(messages)).toBe('end');
        const open = messages.slice(0, -1);
        expect(answerTo(open, once).text).toBe('end');
        const at = 2 + (seed % (open.length - 2));
        const message = open[at] as WireMessage;
        if (how === 'leave out') open.splice(at, 1);
        else if (how === 'double') open.splice(at, 0, message);
        else open.splice(at - 1, 2, message, open[at - 1] as WireMessage);
        expect(refusal(open)).not.toBe('no violation');
      }),
      { numRuns: 300 },
    );
  });
});
