import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { createClient } from '../../../src/client/client.ts';
import { AppError, fail } from '../../../src/errors/app-error.ts';
import { Cli } from '../../cli.ts';
import { FAKE_KEY, type FakeDaemon, startFakeDaemon } from '../../testing/fake-daemon.ts';
import { runSvc } from '../../testing/run-svc.ts';
import { recordedTerminal } from '../../testing/terminal.ts';
import { checkExceptions, decide, pendingReviews } from './decide.ts';
import { showReview } from './shown.ts';

const review = {
  id: 'rev_1',
  sessionId: 'ses_1',
  agentId: 'agt_1',
  turnNumber: 2,
  iteration: 3,
  status: 'APPROVAL_REVIEW_STATUS_PENDING',
  toolCalls: [
    {
      toolCallId: 'call_1',
      toolName: 'sandbox_shell',
      toolArgs: '{"command":"echo \u202egnp.txe"}',
      risk: ['destructive'],
    },
  ],
  decisions: [],
  defaultAction: 'deny',
  requestedAt: '2026-01-01T10:00:00.000Z',
  expiresAt: '2026-01-01T11:00:00.000Z',
} as const;

let daemon: FakeDaemon;
beforeAll(() => {
  daemon = startFakeDaemon();
});
afterAll(() => daemon.stop());
beforeEach(() => {
  daemon.seen.length = 0;
});

const client = () => createClient({ url: daemon.url, apiKey: FAKE_KEY, fetch });
const svc = (...argv: string[]) =>
  runSvc(argv, { env: { SVC_API_URL: daemon.url, SVC_API_KEY: FAKE_KEY, HOME: '/nonexistent' } });

test('calls that are excepted are decided the other way', async () => {
  daemon.on('POST /v1/agents/reviews/rev_1/submit', () => ({ accepted: true, message: 'ok' }));
  await decide(client(), 'rev_1', { action: 'approve', except: ['call_2'], note: 'mostly' });
  await decide(client(), 'rev_1', { action: 'deny' });
  expect(daemon.seen.map(({ body }) => body)).toEqual([
    {
      action: 'APPROVAL_ACTION_APPROVE',
      decisions: [{ toolCallId: 'call_2', action: 'APPROVAL_ACTION_DENY' }],
      reason: 'mostly',
    },
    { action: 'APPROVAL_ACTION_DENY' },
  ]);
});

test('a session is asked for what it waits for', async () => {
  daemon.on('GET /v1/agents/reviews', () => ({ reviews: [review], total: 1 }));
  expect(await pendingReviews(client(), 'ses_1')).toEqual(['rev_1']);
  expect(daemon.seen[0]?.query).toEqual({ sessionId: 'ses_1', status: 'APPROVAL_REVIEW_STATUS_PENDING' });
});

test('single calls cannot be named for several reviews', () => {
  expect(() => checkExceptions('--deny', ['rev_1', 'rev_2'], ['call_1'])).toThrow(AppError);
  checkExceptions('--deny', ['rev_1'], ['call_1']);
  checkExceptions('--deny', ['rev_1', 'rev_2'], []);
});

test('a review is shown with every argument, and nothing in it can hide', () => {
  const terminal = recordedTerminal(true);
  showReview(new Cli(terminal, { HOME: '/nonexistent' }, {}), {
    ...review,
    toolCalls: [...review.toolCalls].map((one) => ({ ...one, risk: [...one.risk] })),
    decisions: [],
  });
  const shown = terminal.out.text();
  expect(shown).toContain('"command": "echo \\u202egnp.txe"');
  expect(shown).not.toContain('\u202e');
  expect(shown).toMatch(/risk\s+destructive/);
  expect(shown).toMatch(/then\s+deny/);
});

test('the program lists, approves, and ends with 6 when it is too late', async () => {
  daemon.on('GET /v1/agents/reviews', () => ({ reviews: [review], total: 1 }));
  daemon.on('POST /v1/agents/reviews/rev_1/submit', () => ({
    accepted: true,
    message: '1 of 1 call approved.',
  }));
  daemon.on('POST /v1/agents/reviews/rev_2/submit', () =>
    fail('review_settled', { id: 'rev_2', how: 'was denied by usr_1', at: '2026-01-01T10:00:00.000Z' }),
  );
  const listed = await svc('review', 'list');
  expect(listed.stdout.split('\t').slice(0, 3)).toEqual(['rev_1', 'pending', 'ses_1']);
  const decided = await svc('review', 'approve', 'rev_1', 'rev_2', '--note', 'fine');
  expect(decided.code).toBe(6);
  expect(decided.stderr).toContain('rev_1: 1 of 1 call approved.');
  expect(decided.stderr).toContain('was denied by usr_1');
}, 30_000);
