import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../../daemon/app.ts';
import { Audit } from '../../daemon/audit/audit.ts';
import { openDatabase } from '../../daemon/db/open.ts';
import { silentLog } from '../../daemon/log/log.ts';
import { createReviewsRoom, hashOf, type ReviewsRoom } from '../../daemon/modules/agents/reviews/index.ts';
import {
  estimateMessage,
  type HeldMessage,
  planCompaction,
} from '../../daemon/modules/agents/turns/compaction/index.ts';
import type { ChatMessage } from '../../daemon/modules/gateway/index.ts';
import { migrations } from '../../migrations/index.ts';
import { DAY_MS, systemClock } from '../../src/kit/time.ts';
import { median } from './kit/quantile.ts';
import { atMost, digits, type Goal, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 30);
const KEPT = sizeFromEnv('BENCH_REVIEWS', 100_000);
const CYCLES = [200, 2_000, 20_000];

const caller = { tenant: 'org_a', actor: 'key_1', role: 'member', via: 'api-key' } as const;
const toolArgs = JSON.stringify({ command: 'rm -rf build && make', note: 'x'.repeat(400) });
const call = { toolCallId: 'call_1', toolName: 'sandbox_shell', toolArgs };

/** What reviews cost among many old ones, beside a bare commit; and how long a plan for a long conversation takes. */
export async function benchReviews(report: Report): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-reviews-'));
  const db = openDatabase(join(dir, 'svc.db'), migrations);
  try {
    const app = {
      db,
      clock: systemClock,
      log: silentLog,
      audit: new Audit(db, systemClock),
    } as unknown as App;
    const room = createReviewsRoom(app);
    fill(app, room);
    db.raw.run('CREATE TABLE bare (n INTEGER) STRICT');
    const commit = middle(() => db.raw.run('INSERT INTO bare VALUES (1)'));
    let id = '';
    const opening = middle(() => {
      id = open(room, 1);
    });
    const deciding = middle(
      () => {
        id = open(room, 1);
      },
      () => room.service.submit(caller, id, { action: 'APPROVAL_ACTION_APPROVE' }),
    );
    const listing = middle(() => room.service.list('org_a', { limit: 50, offset: 0 }));
    const waking = middle(() => room.service.expireDue());
    const line = (what: string, ms: number, goal: Goal): Line => ({
      what,
      cells: [digits(ms), digits(ms / commit)],
      goals: [goal],
    });
    report.table({
      title: `reviews among ${KEPT} others`,
      columns: ['ms', 'x commit'],
      lines: [
        { what: 'a bare commit', cells: [digits(commit), '1.00'] },
        line('open', opening, atMost(opening / commit, 3, 'x')),
        line('decide', deciding, atMost(deciding / commit, 6, 'x')),
        line('look whether one expires', waking, atMost(waking, 1, 'ms')),
        line('the first 50 of the queue', listing, atMost(listing, 20, 'ms')),
      ],
    });
  } finally {
    db.close();
    rmSync(dir, { recursive: true, force: true });
  }
  report.table({
    title: 'a plan for a conversation',
    columns: ['ms', 'us/message'],
    lines: CYCLES.map(planned),
  });
}

/** Reviews of a year, one in ten of them pending. */
function fill({ db }: App, room: ReviewsRoom): void {
  db.transaction(() => {
    for (let i = 0; i < KEPT; i++) open(room, i);
    db.raw.run(
      `UPDATE agent_reviews SET status = 'approved', resolved_at = requested_at, resolved_by = 'key_1' WHERE rowid % 10 <> 0`,
    );
  });
}

function open({ reviews }: ReviewsRoom, i: number): string {
  return reviews.open({
    ...{ tenant: 'org_a', sessionId: `ses_${i}`, agentId: 'agt_1', turnNumber: 1, iteration: 1 },
    calls: [{ ...call, argsHash: hashOf(call.toolName, toolArgs) }],
    timeoutMs: DAY_MS + (i % 1_000),
    defaultAction: 'deny',
  });
}

function planned(cycles: number): Line {
  const said: ChatMessage[] = [{ role: 'user', content: 'build it' }];
  for (let i = 0; i < cycles; i++)
    said.push(
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: `c${i}`, type: 'function', function: { name: 'sandbox_shell', arguments: toolArgs } },
        ],
      },
      { role: 'tool', tool_call_id: `c${i}`, content: 'ok '.repeat(100) },
    );
  const messages: HeldMessage[] = said.map((message, seq) => ({
    seq,
    message,
    tokens: estimateMessage(message),
  }));
  const tokens = messages.reduce((sum, one) => sum + one.tokens, 0);
  const ms = middle(() => planCompaction({ messages, contextTokens: tokens, enabled: true }));
  return {
    what: `the cut of ${cycles} calls`,
    cells: [digits(ms), digits((ms * 1_000) / messages.length)],
    goals: cycles === 200 ? [atMost(ms, 5, 'ms')] : [],
  };
}

/** Milliseconds of the middle run; with two, the first only prepares. */
function middle(first: () => unknown, second?: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    if (second) first();
    const start = performance.now();
    (second ?? first)();
    return performance.now() - start;
  });
  return median(times);
}

if (import.meta.main) await Report.of(benchReviews);
