import { fail } from '../../../../src/errors/app-error.ts';
import { type Clock, HOUR_MS, rfc3339, SECOND_MS } from '../../../../src/kit/time.ts';
import type { Caller } from '../../../http/route.ts';
import type { ModelRequest } from '../pipeline/call.ts';
import type { RequestRecord } from '../pipeline/record.ts';
import type { Budgets, Reservation } from '../pipeline/stages.ts';
import type { PriceBook } from '../prices/price-book.ts';
import { worstCase } from '../prices/worst-case.ts';
import type { Account, Standing } from './account.ts';

/** The subject of a budget for everybody of a tenant. */
export const WHOLE_TENANT = 'tenant';

const MICROS = 1_000_000;
/** Stock clients try a 429 again by themselves, unless they are told not to. */
const NO_RETRY = { 'x-should-retry': 'false' };

/** A request that is longer under way holds nothing any more; what it does cost is booked all the same. */
const LONGEST_HOLD_MS = 6 * HOUR_MS;

interface Hold extends Reservation {
  /** Unix time in milliseconds. */
  readonly until: number;
}

/**
 * Holds requests to budgets, in memory. Before a request the most that it is expected to cost is held back, and it is
 * refused when that and what is spent and held exceed a limit; looking and holding are one step. After it the hold is
 * let go, and the ledger's record of it is booked in the same step, also when there was no hold.
 */
export class RequestBudgets implements Budgets {
  /** By tenant, then by subject. Tenants without budgets are not in it. */
  private readonly accounts = new Map<string, Map<string, Account>>();
  private readonly holds = new Set<Hold>();

  constructor(
    private readonly prices: Pick<PriceBook, 'of'>,
    private readonly clock: Clock,
  ) {}

  /** The account of a subject. */
  find(tenant: string, subject: string): Account | undefined {
    return this.accounts.get(tenant)?.get(subject);
  }

  /** The accounts of a tenant. */
  list(tenant: string): Account[] {
    return [...(this.accounts.get(tenant)?.values() ?? [])];
  }

  /** Holds requests to a budget from now on. */
  open(account: Account): void {
    const { tenant, subject } = account.row;
    const own = this.accounts.get(tenant) ?? new Map<string, Account>();
    own.set(subject, account);
    this.accounts.set(tenant, own);
  }

  /** Forgets a budget. */
  close(tenant: string, subject: string): void {
    const own = this.accounts.get(tenant);
    own?.delete(subject);
    if (own?.size === 0) this.accounts.delete(tenant);
  }

  reserve(
    caller: Caller,
    model: string,
    request: ModelRequest,
    fallbacks: readonly string[] = [],
  ): Reservation | undefined {
    const own = this.accounts.get(caller.tenant);
    if (!own) return undefined;
    const accounts = subjectsOf(caller).flatMap((subject) => own.get(subject) ?? []);
    if (accounts.length === 0) return undefined;
    const models = [model, ...fallbacks];
    const amounts = models.map((one) => this.mostOf(one, request));
    const known = amounts.filter((amount) => amount !== undefined);
    const amount = known.length > 0 ? Math.max(...known) : undefined;
    const unpriced = models[amounts.indexOf(undefined)];
    for (const account of accounts) this.check(account, amount, unpriced);
    for (const account of accounts) account.hold(amount ?? 0);
    return this.holding(accounts, amount ?? 0);
  }

  private holding(accounts: readonly Account[], amount: number): Reservation {
    const now = this.clock.now();
    this.letGoOfOld(now);
    const hold = {
      until: now + LONGEST_HOLD_MS,
      settle: () => {
        if (!this.holds.delete(hold)) return;
        for (const account of accounts) account.release(amount);
      },
    };
    this.holds.add(hold);
    return hold;
  }

  /** The oldest stand first. */
  private letGoOfOld(now: number): void {
    for (const hold of this.holds) {
      if (now < hold.until) return;
      hold.settle(0);
    }
  }

  /** Books a request that has ended. */
  book({ tenant, actor, costMicros = 0, startedAt }: RequestRecord): void {
    const own = this.accounts.get(tenant);
    if (!own || costMicros === 0) return;
    const now = this.clock.now();
    for (const subject of [WHOLE_TENANT, actor]) own.get(subject)?.book(costMicros, startedAt, now);
  }

  /** Undefined when the price of the model is not known. */
  private mostOf(model: string, request: ModelRequest): number | undefined {
    const priced = this.prices.of(model);
    return priced?.sheet.cost(worstCase(request, priced.contextWindow));
  }

  private check(account: Account, amount: number | undefined, unpriced: string | undefined): void {
    const { row } = account;
    if (!row.isHard) return;
    if (unpriced !== undefined && row.refusesUnpriced)
      throw fail('budget_spent', {
        message: `The price of ${unpriced} is not known, and the budget of ${whose(row.subject)} refuses such models.`,
        headers: NO_RETRY,
      });
    // Without a price nothing can be held, but a budget that is used up lets nobody through.
    const now = this.clock.now();
    const lacking = account.lacking(amount ?? 1, now);
    if (!lacking) return;
    const message = spent(row.subject, lacking, account.reserved, amount);
    const retryAfterSeconds = lacking.resetsAt && Math.ceil((lacking.resetsAt - now) / SECOND_MS);
    throw fail('budget_spent', { message, retryAfterSeconds, headers: NO_RETRY });
  }
}

function subjectsOf({ actor }: Caller): string[] {
  return [WHOLE_TENANT, actor];
}

function spent(subject: string, standing: Standing, held: number, amount: number | undefined): string {
  const { window, limit, spent, resetsAt } = standing;
  const span = window === 'total' ? '' : ` for this ${window}`;
  const under = held > 0 ? `, ${dollars(held)} held for requests under way` : '';
  const need = amount === undefined ? '' : ` This request may cost ${dollars(amount)}.`;
  const reset = resetsAt === undefined ? '' : ` It begins anew at ${rfc3339(resetsAt)}.`;
  return `The budget of ${whose(subject)}${span} is ${dollars(limit)}: ${dollars(spent)} are spent${under}.${need}${reset}`;
}

function whose(subject: string): string {
  return subject === WHOLE_TENANT ? 'this tenant' : subject;
}

function dollars(micros: number): string {
  const usd = micros / MICROS;
  return `$${usd.toFixed(usd < 1 ? 6 : 2).replace(/(\.\d\d\d*?)0+$/, '$1')}`;
}
