import { fail } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import { DAY_MS, rfc3339 } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import { decideAll, isSameDecision } from './decision.ts';
import type { NewReview, Review, Reviews } from './face.ts';
import { riskOf } from './risk.ts';
import type { ReviewEnd, ReviewFilter, ReviewStore } from './store.ts';
import { readSubmission, type Submission } from './submission.ts';
import type { ReviewRow } from './tables.ts';

/** Whoever ends a review without being a person. */
const SYSTEM = 'system';
/** Nobody waits longer than a year for an answer. */
const LONGEST_WAIT_MS = 365 * DAY_MS;
const BATCH = 100;
/** Said to the model about calls that nobody has decided. */
const NOBODY = 'Nobody has decided in time.';

type Listener = (review: Review) => void;

/** A submission that holds; `isNew` when it was this one that has decided. */
export interface Submitted {
  readonly review: ReviewRow;
  readonly isNew: boolean;
}

/** Reviews of calls: asked for by turns, decided by people, or by their time. */
export class ReviewService implements Reviews {
  private readonly listeners: Listener[] = [];

  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit' | 'log'>,
    private readonly store: ReviewStore,
    /** Told when there is one more that can expire. */
    private readonly opened: (expiresAt: number) => void,
  ) {}

  open(wanted: NewReview): string {
    const { timeoutMs, calls, note = '', ...rest } = wanted;
    const now = this.app.clock.now();
    const id = newId('rev', now);
    const expiresAt = now + Math.min(Math.max(timeoutMs, 0), LONGEST_WAIT_MS);
    this.store.insert({
      ...rest,
      id,
      note,
      calls: calls.map((call) => ({ ...call, risk: riskOf(call.toolName, call.toolArgs) })),
      decisions: [],
      status: 'pending',
      requestedAt: now,
      expiresAt,
      resolvedAt: null,
      resolvedBy: '',
      reviewer: '',
      resolutionReason: '',
    });
    this.opened(expiresAt);
    return id;
  }

  find(tenant: string, id: string): Review | undefined {
    const row = this.store.find(tenant, id);
    return row && reviewOf(row);
  }

  cancel(tenant: string, sessionId: string): void {
    this.store.cancel(tenant, sessionId, this.ended('cancelled'));
  }

  onSettled(listener: Listener): void {
    this.listeners.push(listener);
  }

  list(tenant: string, filter: ReviewFilter): { rows: ReviewRow[]; total: number } {
    return this.store.list(tenant, filter);
  }

  /** One review. Errors: not_found naming it, also for another tenant's. */
  get(tenant: string, id: string): ReviewRow {
    const row = this.store.find(tenant, id);
    if (!row) throw fail('not_found', { what: 'review', id });
    return row;
  }

  /**
   * Decides a review that is pending; the same answer again is accepted and changes nothing. Errors: not_found;
   * invalid_argument naming the field; review_settled when it stands otherwise.
   */
  submit({ tenant, actor }: Caller, id: string, submission: Submission): Submitted {
    const { calls } = this.get(tenant, id);
    const { status, decisions, reason, reviewer } = readSubmission(calls, submission);
    const end = { decisions, reviewer, resolutionReason: reason, ...this.ended(status, actor) };
    const [decided] = this.settle(`review.${actionOf(status)}`, () => this.store.decide(tenant, id, end));
    if (decided) return { review: decided, isNew: true };
    this.settle('review.expire', () => this.expire(this.get(tenant, id)));
    const stands = this.get(tenant, id);
    const isDecided = stands.status === 'approved' || stands.status === 'denied';
    if (isDecided && isSameDecision(stands.decisions, decisions)) return { review: stands, isNew: false };
    throw settled(stands);
  }

  /** Settles those whose time is over, some at a time. Whether there may be more. */
  expireDue(): boolean {
    const due = this.store.due(this.app.clock.now(), BATCH);
    if (due.length > 0) this.settle('review.expire', () => due.flatMap((row) => this.expire(row)));
    return due.length === BATCH;
  }

  /** Ends a review by its default action, when it is pending and its time is over. */
  private expire({ tenant, id, calls, defaultAction }: ReviewRow): ReviewRow[] {
    const decisions = decideAll(calls, defaultAction, NOBODY);
    return this.store.expire(tenant, id, { ...this.ended('expired'), decisions });
  }

  /** Writes ends with their lines in the audit log; once they are on the disk, tells who waits for them. */
  private settle(action: string, write: () => ReviewRow[]): ReviewRow[] {
    const rows = this.app.db.transaction(() => {
      const written = write();
      for (const row of written) this.record(row, action);
      return written;
    });
    for (const row of rows) this.tell(reviewOf(row));
    return rows;
  }

  /** The arguments of a call may hold secrets, so only their hash stands in the audit log. */
  private record(
    { tenant, id, resolvedBy, sessionId, calls, decisions, reviewer }: ReviewRow,
    action: string,
  ) {
    const details = {
      sessionId,
      calls: calls.map(({ toolCallId, toolName, argsHash }, i) => {
        return { toolCallId, toolName, argsHash, action: decisions[i]?.action };
      }),
      ...(reviewer ? { reviewer } : {}),
    };
    this.app.audit.record({ tenant, actor: resolvedBy, action, target: id, details });
  }

  private tell(review: Review): void {
    for (const listener of this.listeners)
      try {
        listener(review);
      } catch (error) {
        this.app.log.error('a settled review could not be acted on', { review: review.id, error });
      }
  }

  private ended(status: ReviewRow['status'], resolvedBy = SYSTEM): ReviewEnd {
    return { status, resolvedBy, resolvedAt: this.app.clock.now() };
  }
}

function actionOf(status: 'approved' | 'denied'): 'approve' | 'deny' {
  return status === 'approved' ? 'approve' : 'deny';
}

function reviewOf({ note, ...row }: ReviewRow): Review {
  return { ...row, timeoutMs: row.expiresAt - row.requestedAt, ...(note ? { note } : {}) };
}

function settled({ id, status, resolvedBy, resolvedAt, defaultAction }: ReviewRow) {
  const at = rfc3339(resolvedAt) ?? '';
  const how = {
    pending: 'is pending',
    approved: `was approved by ${resolvedBy}`,
    denied: `was denied by ${resolvedBy}`,
    expired: `has expired, so that its default action applied (${defaultAction})`,
    cancelled: 'was cancelled with its turn',
  };
  return fail('review_settled', { id, how: how[status], at });
}
