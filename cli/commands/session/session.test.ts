import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { createClient } from '../../../src/client/client.ts';
import { AppError, fail } from '../../../src/errors/app-error.ts';
import { FAKE_KEY, type FakeDaemon, startFakeDaemon } from '../../testing/fake-daemon.ts';
import { recordedTerminal } from '../../testing/terminal.ts';
import { makeStyle } from '../../ui/color.ts';
import { beforeTurn, beginTurn } from './begin.ts';
import { argsText, callLine, type KnownCall, resultText } from './call-text.ts';
import { EventView } from './event-view.ts';
import { type AgentEvent, sessionEvents } from './feed.ts';
import { PlainPrinter } from './plain-printer.ts';
import { sessionsBelow } from './sub-sessions.ts';
import { treeLines } from './tree.ts';

const style = makeStyle(false);

describe('a call on one line', () => {
  test.each([
    ['sandbox_shell', '{"command":"npm test\\nls","cwd":"/x"}', 'npm test ls'],
    ['sandbox_read_file', '{"path":"a.ts","limit":3}', 'a.ts'],
    ['sandbox_grep', '{"path":"src","pattern":"x+"}', 'x+'],
    ['spawn_agent', '{"agent":"worker","task":"do it"}', 'worker: do it'],
    ['order', '{"id":7,"to":"Ann","tags":["a"]}', 'id=7 to=Ann tags=["a"]'],
    ['order', '', ''],
    ['order', '{not json', '{not json'],
    ['order', '"text"', '"text"'],
    ['x', '{"command":"a\\u001b[2Jb\\u202e"}', 'a\uFFFD[2Jb\\u202e'],
  ])('%s %s is about %p', (name, args, text) => {
    expect(argsText(name, args)).toBe(text);
  });

  test.each([
    ['', ''],
    ['\n one \n', 'one'],
    ['one\n\ntwo\nthree', 'one (+2 lines)'],
    ['a\x1b]0;x\x07', 'a\uFFFD]0;x\uFFFD'],
  ])('the result %j is %j', (result, text) => {
    expect(resultText(result)).toBe(text);
  });

  const shell: KnownCall = { name: 'sandbox_shell', args: '{"command":"npm test"}' };
  test.each([
    [shell, 80, '· sandbox_shell npm test'],
    [
      { ...shell, ok: true, durationMs: 1_200, result: 'exit code 0 after 1.1 s\n3 passed' },
      80,
      '✓ sandbox_shell npm test · 1.2 s · exit 0 · 3 passed',
    ],
    [
      { ...shell, ok: false, durationMs: 5, result: 'exit code 137 (out of memory) after 3 ms\na\nb' },
      80,
      '✗ sandbox_shell npm test · 5 ms · exit 137 · out of memory · a (+1 line)',
    ],
    [
      { name: 'read', args: '', ok: true, result: 'exit code 0 after 1 s' },
      80,
      '✓ read · exit code 0 after 1 s',
    ],
    [
      { ...shell, args: `{"command":"${'x'.repeat(90)}"}`, ok: true, durationMs: 5, result: 'fine' },
      40,
      '✓ sandbox_shell xxxxxxxx… · 5 ms · fine',
    ],
    [
      { ...shell, ok: true, durationMs: 5, result: 'y'.repeat(90) },
      40,
      '✓ sandbox_shell npm test · 5 ms · yyyyy…',
    ],
  ] satisfies Array<[KnownCall, number, string]>)('%p in %i columns', (call, columns, line) => {
    const shown = callLine(call, columns);
    expect(Bun.stringWidth(shown)).toBeLessThanOrEqual(columns);
    expect(shown).toBe(line);
  });
});

describe('events', () => {
  const linesOf = (events: readonly AgentEvent[], full = false) => {
    const view = new EventView({ style, columns: () => 80, full });
    return events
      .flatMap((event) => view.take(event))
      .map((piece) => ('line' in piece ? piece.line : piece.text));
  };
  const call = { toolCallId: 'call_1', toolName: 'sandbox_shell' };
  const turn = (status: 'COMPLETED' | 'FAILED', toolCalls = '[]') => ({
    status: `TURN_STATUS_${status}` as const,
    toolCalls,
    totalTokens: 12,
    latencyMs: '1500',
  });

  test.each<[what: string, events: AgentEvent[], lines: string[]]>([
    ['words', [{ type: 'llm.chunk', textDelta: 'a\x1b[1mb\n' }], ['a\uFFFD[1mb\n']],
    [
      'a command',
      [
        { type: 'tool_call.start', ...call, toolArgs: '{"command":"ls"}' },
        { type: 'sandbox.exec', toolCallId: 'call_1' },
        { type: 'sandbox.result', toolCallId: 'call_1', sandboxExitCode: 2 },
        {
          type: 'tool_call.error',
          ...call,
          toolSuccess: false,
          toolDurationMs: '20',
          toolResult: 'exit code 2 after 19 ms\nno',
        },
      ],
      ['✗ sandbox_shell ls · 20 ms · exit 2 · no'],
    ],
    [
      'a call that nobody timed',
      [{ type: 'tool_call.error', ...call, toolResult: 'ended' }],
      ['✗ sandbox_shell · ended'],
    ],
    [
      'an approval',
      [
        {
          type: 'approval.requested',
          reviewId: 'rev_1',
          pendingToolCalls: [{ toolCallId: 'call_1', toolName: 'rm', toolArgs: '{"path":"\\u202ex"}' }],
        },
        { type: 'approval.heartbeat' },
        { type: 'approval.resolved', reviewId: 'rev_1', approvalAction: 'approve' },
      ],
      ['? needs approval', '  rm \\u202ex', '  approved'],
    ],
    [
      'a question',
      [{ type: 'user_input.requested', toolArgs: '{"question":"Which?\\nSay.","options":["red","blue"]}' }],
      ['? Which?', 'Say.', '  1  red', '  2  blue'],
    ],
    ['a question that is none', [{ type: 'user_input.requested', toolArgs: 'x' }], ['? x']],
    [
      'a restart',
      [{ type: 'llm.end', finishReason: 'interrupted' }],
      ['(svc was restarted meanwhile; the model is asked again)'],
    ],
    [
      'another model',
      [{ type: 'fallback.triggered', fallbackFromModel: 'a/b', fallbackToModel: 'c/d', error: 'down' }],
      ['a/b failed (down); asking c/d'],
    ],
    [
      'an end',
      [{ type: 'turn.end', finishReason: 'max_steps', turn: turn('COMPLETED', '[{},{}]') }],
      ['12 tokens · 2 calls · 1.5 s · stopped: the agent has used up its steps'],
    ],
    [
      'a failure',
      [{ type: 'turn.end', error: 'No key.', turn: turn('FAILED') }],
      ['✗ the turn failed: No key.'],
    ],
    [
      'an end by hand',
      [{ type: 'turn.end', finishReason: 'cancelled', error: 'By x.', turn: turn('FAILED') }],
      ['✗ the turn was ended: By x.'],
    ],
    [
      'a sub-agent',
      [{ type: 'spawn.start', toolArgs: '{"agent":"worker","sessionId":"ses_2"}' }],
      ['↳ worker works in the session ses_2'],
    ],
    ['what is said between', [{ type: 'steer.received', textDelta: 'be\nquick' }], ['» be quick']],
  ])('%s', (_, events, lines) => {
    expect(linesOf(events)).toEqual(lines);
  });

  test('for those who only look on, beginnings are told too', () => {
    const events: AgentEvent[] = [
      { type: 'turn.start', turnNumber: 3 },
      { type: 'tool_call.start', ...call, toolArgs: '{"command":"ls"}' },
    ];
    expect(linesOf(events, true)).toEqual(['turn 3', '→ sandbox_shell ls']);
  });

  test('are printed so that a line never begins in the middle of one', async () => {
    const { out, err } = recordedTerminal(true);
    const printer = new PlainPrinter({ words: out, lines: err, full: false });
    for (const textDelta of ['one ', 'two']) await printer.take({ type: 'llm.chunk', textDelta });
    await printer.take({ type: 'session.end', finishReason: 'completed' });
    await printer.end();
    expect([out.text(), err.text()]).toEqual(['one two\n', 'the session is completed\n']);
  });
});

describe('a tree', () => {
  const node = (id: string, parentNodeId: string, more: object = {}) => ({
    id,
    parentNodeId,
    agentId: 'agt_2',
    executionId: `ses_${id}`,
    status: 'waiting_for_approval',
    task: 'a\ntask',
    totalTokens: 5,
    ...more,
  });
  const over = {
    startedAt: '2026-01-01T00:00:00Z',
    completedAt: '2026-01-01T00:00:02Z',
    status: 'completed',
  };
  const nodes = [node('r', ''), node('a', 'r'), node('b', 'r', over), node('c', 'a')];

  test('is drawn from its root on', () => {
    const root = { id: 'ses_r', agentId: 'agt_1', status: 'SESSION_STATUS_RUNNING', totalTokens: 9 } as const;
    expect(treeLines(root, nodes, new Map([['agt_1', 'boss']]))).toEqual([
      'boss  ses_r  running · 9 tokens',
      '├─ agt_2  ses_a  waiting for approval · 5 tokens  a task',
      '│  └─ agt_2  ses_c  waiting for approval · 5 tokens  a task',
      '└─ agt_2  ses_b  completed · 5 tokens · 2.0 s  a task',
    ]);
    expect(treeLines(root, [], new Map())).toHaveLength(1);
  });

  test('knows which sessions are below one', () => {
    expect(sessionsBelow(nodes, 'ses_r')).toEqual(['ses_a', 'ses_c', 'ses_b']);
    expect(sessionsBelow(nodes, 'ses_a')).toEqual(['ses_c']);
    expect(sessionsBelow(nodes, 'ses_other')).toEqual([]);
  });
});

describe('a session that is followed', () => {
  let daemon: FakeDaemon;
  beforeAll(() => {
    daemon = startFakeDaemon();
  });
  afterAll(() => daemon.stop());
  beforeEach(() => {
    daemon.seen.length = 0;
  });

  const client = () => createClient({ url: daemon.url, apiKey: FAKE_KEY, fetch });
  const events = 'GET /v1/agents/sessions/ses_1/events';
  const stream = (...messages: string[]) =>
    new Response(messages.join(''), { headers: { 'content-type': 'text/event-stream' } });
  const message = (id: number, textDelta: string) =>
    `id: ${id}\ndata: ${JSON.stringify({ result: { type: 'llm.chunk', textDelta } })}\n\n`;
  const session = (more: object) => ({ session: { id: 'ses_1', turnCount: 0, turns: [], ...more } });

  test('goes on after the last event whenever a connection ends, and tells each event once', async () => {
    const answers = [
      () => stream(': open\n\n', message(6, 'a'), message(7, 'b'), 'id: 8\ndata: {"res'),
      () => fail('unavailable', { message: 'svc is stopping.' }),
      () => stream(`data: ${JSON.stringify({ error: { code: 14, message: 'svc is stopping.' } })}\n\n`),
      () => stream(message(7, 'b'), `data: {"result":{"type":"approval.heartbeat"}}\n\n`, message(8, 'c')),
    ];
    daemon.on(events, () => answers.shift()?.());
    daemon.on('GET /v1/agents/sessions/ses_1', () =>
      session({ status: answers.length > 0 ? 'SESSION_STATUS_RUNNING' : 'SESSION_STATUS_COMPLETED' }),
    );
    const heard: string[] = [];
    const onConnection = (isThere: boolean) => heard.push(isThere ? 'back' : 'lost');
    for await (const { id, event } of sessionEvents(client(), { sessionId: 'ses_1', after: 5, onConnection }))
      heard.push(`${id}${event.textDelta}`);
    expect(heard).toEqual(['6a', '7b', 'lost', 'back', 'lost', 'back', '8c']);
    const asked = daemon.seen.filter(({ path }) => path.endsWith('/events'));
    expect(asked.map(({ headers }) => headers['last-event-id'])).toEqual(['5', '7', '7', '7']);
  });

  test('that is not there is said at once', async () => {
    daemon.on(events, () => fail('not_found', { what: 'session', id: 'ses_1' }));
    const following = sessionEvents(client(), { sessionId: 'ses_1', after: 0 }).next();
    expect(following).rejects.toThrow('There is no session');
  });

  test('ends when the signal fires', async () => {
    daemon.on(events, () => stream(message(1, 'a')));
    daemon.on('GET /v1/agents/sessions/ses_1', () => session({ status: 'SESSION_STATUS_RUNNING' }));
    const leaving = new AbortController();
    let count = 0;
    for await (const _ of sessionEvents(client(), { sessionId: 'ses_1', after: 0, signal: leaving.signal })) {
      count++;
      leaving.abort();
    }
    expect(count).toBe(1);
  });

  test('a turn whose answer was lost on the way does not begin twice', async () => {
    let turns = 0;
    daemon.on(events, () => ({ events: [], latest: 41 }));
    daemon.on('POST /v1/agents/sessions/ses_1/turns/stream', ({ body }) => {
      turns++;
      expect(body).toMatchObject({ userInput: 'hi', queue: false });
      return stream('data: {}\n\n');
    });
    const begun = [{ turnNumber: 1, userInput: 'hi', status: 'TURN_STATUS_RUNNING' }];
    daemon.on('GET /v1/agents/sessions/ses_1', () =>
      session(turns > 0 ? { turnCount: 1, turns: begun } : {}),
    );
    const cutting = createClient({
      url: daemon.url,
      apiKey: FAKE_KEY,
      async fetch(url, init) {
        const response = await fetch(url, init);
        if (url.endsWith('/stream')) throw new AppError('unreachable', { url, why: 'it was cut' });
        return response;
      },
    });
    expect(await beginTurn(cutting, 'ses_1', 'hi')).toEqual({ number: 1, after: 41 });
    expect(turns).toBe(1);
  });

  test.each([
    [1, 0],
    [2, 3],
    [3, 3],
    [4, 9],
    [9, 12],
  ])('the events of turn %i begin after event %i', async (turnNumber, before) => {
    const turns = [1, 1, 1, 3, 3, 3, 3, 3, 3, 4, 4, 4];
    daemon.on(events, ({ query }) => {
      const from = Number(query.after);
      const left = turns.slice(from, from + 1).map((turn) => ({ id: from + 1, event: { turnNumber: turn } }));
      return { events: left, latest: turns.length };
    });
    expect(await beforeTurn(client(), 'ses_1', turnNumber)).toBe(before);
  });
});
