import { fail } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Outcome } from './execute.ts';
import { deliveryIdOf, isSigned, readBody, SIGNATURE_HEADER, safeHeaders } from './incoming.ts';
import { RateLimit } from './rate-limit.ts';
import type { Runner, Stores } from './runner.ts';
import type { RunRow, WebhookRow } from './tables.ts';
import { sealedTo } from './webhook-service.ts';

/** Runs of one tenant that may wait for their turn. */
const MOST_WAITING = 200;
const RETRY_WAITING_S = 10;

/** What became of a call: its run, and how that ended when it did in time. */
export interface Invoked {
  readonly run: RunRow;
  readonly isRepeated: boolean;
  readonly outcome?: Outcome;
}

/** Takes calls of webhooks. */
export class Invocation {
  private readonly limit: RateLimit;

  constructor(
    private readonly app: App,
    private readonly stores: Stores,
    private readonly runner: Runner,
  ) {
    this.limit = new RateLimit(app.clock);
  }

  /**
   * Runs the command of a webhook and waits for it, `waitMs` at most; it goes on after that. A delivery that was
   * taken already is not run again. What is acknowledged is written down before.
   * Errors: not_found (also when disabled), bad_signature, body_too_large, rate_limited.
   */
  async take(path: string, request: Request, waitMs: number): Promise<Invoked> {
    this.find(path);
    const body = await readBody(request);
    const webhook = this.find(path);
    this.checkSignature(webhook, body, request.headers.get(SIGNATURE_HEADER));
    const { run, isRepeated } = this.admit(webhook, request, body);
    if (isRepeated) return { run, isRepeated };
    const outcome = waitMs > 0 ? await this.runner.outcome(run.id, waitMs) : undefined;
    return { run, isRepeated, outcome };
  }

  private find(path: string): WebhookRow {
    const webhook = this.stores.webhooks.findByPath(path);
    if (!webhook?.enabled) throw fail('not_found', { what: 'webhook', id: path });
    return webhook;
  }

  private checkSignature({ tenant, path, secret }: WebhookRow, body: Buffer, signature: string | null): void {
    if (secret === null) return;
    if (!isSigned(body, this.app.secrets.open(tenant, sealedTo(path), secret), signature))
      throw fail('bad_signature');
  }

  private admit(webhook: WebhookRow, request: Request, body: Buffer): { run: RunRow; isRepeated: boolean } {
    const { id, tenant, sandboxId, rateLimitRpm } = webhook;
    const deliveryId = deliveryIdOf(request.headers);
    const earlier = deliveryId === null ? undefined : this.stores.runs.findDelivery(tenant, id, deliveryId);
    if (earlier) return { run: earlier, isRepeated: true };
    this.checkRate(tenant, id, rateLimitRpm);
    const now = this.app.clock.now();
    const run = this.runner.write(() => {
      this.stores.webhooks.taken(tenant, id, now);
      const about = { deliveryId, method: request.method, headers: safeHeaders(request.headers), body };
      return this.stores.runs.insert({
        ...about,
        tenant,
        type: 'webhook',
        triggerId: id,
        sandboxId,
        status: 'queued',
        createdAt: now,
      });
    });
    return { run, isRepeated: false };
  }

  private checkRate(tenant: string, id: number, perMinute: number): void {
    if (this.stores.runs.countWaiting(tenant) >= MOST_WAITING)
      throw fail('rate_limited', {
        message: `${MOST_WAITING} runs wait already.`,
        retryAfterSeconds: RETRY_WAITING_S,
      });
    const retryAfterSeconds = this.limit.take(id, perMinute);
    if (retryAfterSeconds > 0)
      throw fail('rate_limited', {
        message: `This webhook takes ${perMinute} calls a minute.`,
        retryAfterSeconds,
      });
  }
}

/** The longest that a call waits for its command when it does not say: senders give up after ten seconds. */
export const DEFAULT_WAIT_MS = 8 * SECOND_MS;
