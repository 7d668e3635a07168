import { beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { AppError } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import { openTestApp } from '../../../testing/app.ts';
import type { NewReview, Review } from './face.ts';
import { createReviewsRoom, hashOf, type ReviewsRoom } from './index.ts';
import { ReviewStore } from './store.ts';
import type { Submission } from './submission.ts';
import { reviewToWire } from './wire.ts';

const caller: Caller = { tenant: 'org_a', role: 'member', actor: 'key_1', via: 'api-key' };
const call = (id: string, toolName = 'sandbox_shell', args: object = { command: 'ls' }) => {
  const toolArgs = JSON.stringify(args);
  return { toolCallId: id, toolName, toolArgs, argsHash: hashOf(toolName, toolArgs) };
};

const APPROVE = 'APPROVAL_ACTION_APPROVE';
const DENY = 'APPROVAL_ACTION_DENY';

let now: number;
let app: App;
let room: ReviewsRoom;
let settled: Review[];

beforeEach(() => {
  now = 1_000_000;
  app = openTestApp({ now: () => now }, {});
  room = createReviewsRoom(app);
  settled = [];
  room.reviews.onSettled((review) => settled.push(review));
});

const open = (more: Partial<NewReview> = {}) =>
  room.reviews.open({
    tenant: 'org_a',
    sessionId: 'ses_1',
    agentId: 'agt_1',
    turnNumber: 1,
    iteration: 1,
    calls: [call('call_1')],
    timeoutMs: 60_000,
    defaultAction: 'deny',
    ...more,
  });

const submit = (id: string, body: Submission, by: Caller = caller) => room.service.submit(by, id, body);
const list = (filter: object = {}, tenant = 'org_a') =>
  room.service.list(tenant, { limit: 50, offset: 0, ...filter }).rows.map(({ id }) => id);

function failureOf(work: () => unknown): { code: string; field?: string; message: string } {
  try {
    work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message, violations } = error;
    return { code, message, field: violations[0]?.field };
  }
  throw new Error('it did not fail');
}

const audited = () =>
  app.db.raw
    .query<{ actor: string; action: string; target: string; details: string }, []>(
      'SELECT actor, action, target, details FROM audit_log ORDER BY rowid',
    )
    .all();

test('the hash is SHA-256 of the name, a newline and the arguments', () => {
  const expected = createHash('sha256').update('a_tool\n{"x":1}').digest('hex');
  expect(hashOf('a_tool', '{"x":1}')).toBe(expected);
});

describe('a decision', () => {
  test('approves every call, with the reason and who it was', () => {
    const id = open({ calls: [call('call_1'), call('call_2', 'web_fetch')] });
    const { review, isNew } = submit(id, { action: APPROVE, reason: 'looks right' });
    expect(isNew).toBe(true);
    expect(review).toMatchObject({ status: 'approved', resolvedBy: 'key_1', resolvedAt: now });
    expect(review.decisions).toEqual([
      { toolCallId: 'call_1', argsHash: call('call_1').argsHash, action: 'approve', reason: 'looks right' },
      {
        toolCallId: 'call_2',
        argsHash: call('call_2', 'web_fetch').argsHash,
        action: 'approve',
        reason: 'looks right',
      },
    ]);
    expect(settled).toHaveLength(1);
    expect(room.reviews.find('org_a', id)).toMatchObject({ status: 'approved', timeoutMs: 60_000 });
  });

  test('takes single calls otherwise; the review is denied only when all of them are', () => {
    const calls = [call('call_1'), call('call_2')];
    const mixed = submit(open({ calls }), {
      action: APPROVE,
      reason: 'mostly',
      decisions: [{ toolCallId: 'call_2', action: DENY, reason: 'not this one' }],
    });
    expect(mixed.review.status).toBe('approved');
    expect(mixed.review.decisions.map(({ action, reason }) => [action, reason])).toEqual([
      ['approve', 'mostly'],
      ['deny', 'not this one'],
    ]);
    const single = calls.map(({ toolCallId }) => ({ toolCallId, action: DENY }) as const);
    expect(submit(open({ calls }), { decisions: single }).review.status).toBe('denied');
    expect(submit(open({ calls }), { action: APPROVE, decisions: single }).review.status).toBe('denied');
  });

  test('keeps a name that was sent beside who it was, and never in its place', () => {
    const { review } = submit(open(), { action: APPROVE, resolvedBy: 'usr_the_boss' });
    expect(reviewToWire(review)).toMatchObject({ resolvedBy: 'key_1', reviewer: 'usr_the_boss' });
    expect(audited()[0]).toMatchObject({ actor: 'key_1', action: 'review.approve', target: review.id });
  });

  test('is audited without the arguments of the calls', () => {
    submit(open({ calls: [call('call_1', 'login', { password: 'hunter2' })] }), { action: DENY });
    const [line] = audited();
    expect(line).toMatchObject({ action: 'review.deny' });
    expect(line?.details).toContain(call('call_1', 'login', { password: 'hunter2' }).argsHash);
    expect(line?.details).not.toContain('hunter2');
  });

  test.each<[string, Submission, string]>([
    ['nothing', {}, 'action'],
    ['no action', { action: 'APPROVAL_ACTION_UNSPECIFIED', reason: 'hm' }, 'action'],
    ['one call of two', { decisions: [{ toolCallId: 'call_1', action: DENY }] }, 'action'],
    [
      'an unknown call',
      { action: DENY, decisions: [{ toolCallId: 'call_9', action: DENY }] },
      'decisions.0.toolCallId',
    ],
    ['a call without id', { action: DENY, decisions: [{ action: DENY }] }, 'decisions.0.toolCallId'],
    [
      'a call twice',
      {
        decisions: [
          { toolCallId: 'call_1', action: DENY },
          { toolCallId: 'call_1', action: APPROVE },
        ],
      },
      'decisions.1.toolCallId',
    ],
    ['a call without action', { action: DENY, decisions: [{ toolCallId: 'call_2' }] }, 'decisions.0.action'],
    [
      'a hash of other bytes',
      { decisions: [{ toolCallId: 'call_1', action: APPROVE, argsHash: 'f'.repeat(64) }], action: DENY },
      'decisions.0.argsHash',
    ],
    ['a long reason', { action: DENY, reason: 'x'.repeat(2_001) }, 'reason'],
    ['a long name', { action: DENY, resolvedBy: 'x'.repeat(201) }, 'resolvedBy'],
  ])('with %s is refused, and nothing changes', (_, body, field) => {
    const id = open({ calls: [call('call_1'), call('call_2')] });
    expect(failureOf(() => submit(id, body))).toMatchObject({ code: 'invalid_argument', field });
    expect(room.reviews.find('org_a', id)?.status).toBe('pending');
    expect(settled).toEqual([]);
    expect(audited()).toEqual([]);
  });

  test('that was made already is accepted without effect, another one is not', () => {
    const id = open({ calls: [call('call_1'), call('call_2')] });
    submit(id, { action: APPROVE, decisions: [{ toolCallId: 'call_2', action: DENY }] });
    now += 5;
    const other: Caller = { ...caller, actor: 'usr_2' };
    const again = [
      { toolCallId: 'call_1', action: APPROVE },
      { toolCallId: 'call_2', action: DENY },
    ] as const;
    const { review, isNew } = submit(id, { decisions: [...again], reason: 'me too' }, other);
    expect(isNew).toBe(false);
    expect(review).toMatchObject({ resolvedBy: 'key_1', resolutionReason: '', resolvedAt: now - 5 });
    for (const action of [APPROVE, DENY] as const) {
      const failure = failureOf(() => submit(id, { action }, other));
      expect(failure.code).toBe('review_settled');
      expect(failure.message).toContain('was approved by key_1');
    }
    expect(settled).toHaveLength(1);
    expect(audited()).toHaveLength(1);
  });

  test('of another tenant is about nothing', () => {
    const id = open();
    const stranger: Caller = { ...caller, tenant: 'org_b' };
    expect(failureOf(() => submit(id, { action: APPROVE }, stranger)).code).toBe('not_found');
    expect(failureOf(() => room.service.get('org_b', id)).code).toBe('not_found');
    expect(list({}, 'org_b')).toEqual([]);
    expect(room.reviews.find('org_b', id)).toBeUndefined();
    room.reviews.cancel('org_b', 'ses_1');
    expect(room.reviews.find('org_a', id)?.status).toBe('pending');
  });

  test('stands even when who waited for it fails', () => {
    const later: string[] = [];
    room.reviews.onSettled(() => {
      throw new Error('no');
    });
    room.reviews.onSettled(({ id }) => later.push(id));
    const id = open();
    expect(submit(id, { action: APPROVE }).isNew).toBe(true);
    expect(later).toEqual([id]);
  });
});

describe('time', () => {
  test.each(['approve', 'deny'] as const)('over, the default action %s holds for every call', (action) => {
    const id = open({ calls: [call('call_1'), call('call_2')], defaultAction: action });
    now += 60_000;
    expect(room.service.expireDue()).toBe(false);
    const review = room.reviews.find('org_a', id);
    expect(review?.status).toBe('expired');
    expect(review?.decisions.map((one) => one.action)).toEqual([action, action]);
    expect(settled.map(({ status }) => status)).toEqual(['expired']);
    expect(audited()).toMatchObject([{ actor: 'system', action: 'review.expire', target: id }]);
  });

  test('over, a decision comes too late even when nobody has looked yet', () => {
    const id = open({ defaultAction: 'approve' });
    now += 60_000;
    const failure = failureOf(() => submit(id, { action: APPROVE }));
    expect(failure).toMatchObject({ code: 'review_settled' });
    expect(failure.message).toContain('has expired');
    expect(room.reviews.find('org_a', id)?.status).toBe('expired');
    expect(settled).toHaveLength(1);
  });

  test('that is not over lets a review be', () => {
    const id = open();
    now += 59_999;
    room.service.expireDue();
    expect(submit(id, { action: APPROVE }).isNew).toBe(true);
    now += 10;
    room.service.expireDue();
    expect(room.reviews.find('org_a', id)?.status).toBe('approved');
  });

  test('that went by while the daemon was down is caught up with at its start', () => {
    const ids = Array.from({ length: 250 }, (_, i) => open({ timeoutMs: 1_000 + i, sessionId: `ses_${i}` }));
    const late = open({ timeoutMs: 90_000 });
    now += 60_000;
    const next = createReviewsRoom(app);
    const told: string[] = [];
    next.reviews.onSettled(({ id }) => told.push(id));
    next.start();
    next.stop();
    expect(told).toEqual(ids);
    expect(next.reviews.find('org_a', late)?.status).toBe('pending');
  });

  test('passes by itself: one timer settles what is open, whenever it was opened', async () => {
    const real = openTestApp({ now: () => Date.now() }, {});
    const live = createReviewsRoom(real);
    const told: string[] = [];
    const all = Promise.withResolvers<void>();
    live.reviews.onSettled(({ id }) => {
      told.push(id);
      if (told.length === 2) all.resolve();
    });
    const wanted = {
      ...{ tenant: 'org_a', sessionId: 'ses_1', agentId: 'agt_1', turnNumber: 1, iteration: 1 },
      calls: [call('call_1')],
      defaultAction: 'deny',
    } as const;
    live.start();
    const long = live.reviews.open({ ...wanted, timeoutMs: 60_000 });
    const soon = live.reviews.open({ ...wanted, timeoutMs: 40 });
    const sooner = live.reviews.open({ ...wanted, timeoutMs: 1 });
    await all.promise;
    live.stop();
    expect(told.toSorted()).toEqual([soon, sooner].toSorted());
    expect(live.reviews.find('org_a', long)?.status).toBe('pending');
  });
});

test('those of a cancelled session are over without a decision, and can be decided no more', () => {
  const id = open();
  const other = open({ sessionId: 'ses_2' });
  room.reviews.cancel('org_a', 'ses_1');
  expect(room.reviews.find('org_a', id)).toMatchObject({ status: 'cancelled', decisions: [] });
  expect(room.reviews.find('org_a', other)?.status).toBe('pending');
  expect(failureOf(() => submit(id, { action: DENY })).message).toContain('was cancelled');
  now += 90_000;
  room.service.expireDue();
  expect(room.reviews.find('org_a', id)?.status).toBe('cancelled');
  expect(settled.map((review) => review.id)).toEqual([other]);
});

test('what was opened in a transaction that fails is not there', () => {
  const failing = () =>
    app.db.transaction(() => {
      open();
      throw new Error('no');
    });
  expect(failing).toThrow('no');
  expect(list()).toEqual([]);
});

describe('the list', () => {
  test('has what is pending first, soonest to expire at its head, then the others, newest first', () => {
    const early = open({ timeoutMs: 1_000 });
    now += 10;
    const late = open({ timeoutMs: 90_000, sessionId: 'ses_2' });
    now += 10;
    const soon = open({ timeoutMs: 50_000 });
    now += 10;
    const done = open({ timeoutMs: 5_000 });
    submit(done, { action: DENY });
    now += 10_000;
    room.service.expireDue();
    expect(list()).toEqual([soon, late, done, early]);
    expect(list({ status: 'pending' })).toEqual([soon, late]);
    expect(list({ status: 'denied' })).toEqual([done]);
    expect(list({ sessionId: 'ses_2' })).toEqual([late]);
    expect(list({ limit: 2, offset: 1 })).toEqual([late, done]);
    expect(room.service.list('org_a', { limit: 1, offset: 0 }).total).toBe(4);
  });

  test('is read in the order of its index', () => {
    const prepared = spyOn(app.db.raw, 'prepare');
    list();
    const [[query = ''] = []] = prepared.mock.calls;
    const steps = app.db.raw.query<{ detail: string }, string[]>(`EXPLAIN QUERY PLAN ${query}`).all('', '');
    const plan = steps.map(({ detail }) => detail).join('; ');
    expect(plan).toMatch(/^SEARCH agent_reviews USING INDEX agent_reviews_queue \(tenant=\?\)/);
    expect(plan).not.toContain('B-TREE FOR ORDER BY');
  });
});

test('the wire has the badges and hashes of calls, and the note', () => {
  const id = open({
    calls: [call('call_1', 'sandbox_shell', { command: 'rm -rf /data' })],
    note: 'unknown outcome',
  });
  expect(reviewToWire(room.service.get('org_a', id))).toMatchObject({
    id,
    tenantId: 'org_a',
    status: 'APPROVAL_REVIEW_STATUS_PENDING',
    toolCalls: [
      { toolCallId: 'call_1', risk: ['destructive'], argsHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ],
    decisions: [],
    defaultAction: 'deny',
    note: 'unknown outcome',
    expiresAt: new Date(now + 60_000).toISOString(),
  });
});

test('what was settled before a time is forgotten, some at a time, and what is pending never', () => {
  const store = new ReviewStore(app.db);
  const [first = '', second = '', late = ''] = [open(), open({ tenant: 'org_b' }), open()];
  const pending = open({ timeoutMs: 90_000 });
  submit(first, { action: DENY });
  submit(second, { action: DENY }, { ...caller, tenant: 'org_b' });
  now += 10_000;
  submit(late, { action: APPROVE });
  expect(store.prune(now, 1)).toBe(1);
  expect(store.prune(now, 10)).toBe(1);
  expect(store.prune(now, 10)).toBe(0);
  expect(list()).toEqual([pending, late]);
  expect(list({}, 'org_b')).toEqual([]);
});
