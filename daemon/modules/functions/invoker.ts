import { AppError, asAppError, fail, invalid } from '../../../src/errors/app-error.ts';
import { newId } from '../../../src/kit/id.ts';
import type { App } from '../../app.ts';
import type { Caller } from '../../http/route.ts';
import { type ArgumentSchema, argumentSchema } from '../../json-schema/argument-schema.ts';
import type { Pool } from './isolated/pool.ts';
import { failed, type Outcome } from './outcome.ts';
import { exchange } from './remote/exchange.ts';
import { proxyRequest, proxyResult } from './remote/proxy-request.ts';
import { webhookRequest } from './remote/webhook-request.ts';
import { type FunctionService, KEPT_INVOCATIONS } from './service.ts';
import type { FunctionStore, InvocationEnd } from './store.ts';
import type { InvocationRow } from './tables.ts';
import type { KnownFunction } from './wire.ts';

/** A call that has ended. */
export type Invocation = Outcome & { readonly id: string; readonly durationMs: number };

type Arguments = Readonly<Record<string, unknown>>;

/** Most calls of one tenant at once. */
const MOST_CALLS = 128;
/** Schemas that are kept compiled. */
const KEPT_SCHEMAS = 500;
const MOST_ERROR = 1_000;

/** What calling functions takes. */
export interface InvokerParts {
  readonly app: Pick<App, 'clock' | 'outbound' | 'log'>;
  readonly service: FunctionService;
  readonly store: FunctionStore;
  readonly pool: Pool;
}

/** Calls functions. */
export class Invoker {
  private readonly schemas = new Map<string, { readonly text: string; readonly schema: ArgumentSchema }>();
  private readonly running = new Map<string, number>();

  constructor(private readonly parts: InvokerParts) {}

  /**
   * Calls a function, by its id or name. How it fails by itself is an outcome. Errors: not_found; failed_precondition (it
   * is off, or nothing can run it here); invalid_argument naming each wrong argument; resource_exhausted; cancelled.
   */
  async invoke(caller: Caller, idOrName: string, args: Arguments, signal: AbortSignal): Promise<Invocation> {
    const known = this.parts.service.get(caller.tenant, idOrName);
    if (!known.row.enabled)
      throw fail('failed_precondition', { message: `The function ${known.row.name} is off.` });
    const [first, ...rest] = this.schemaOf(known).check(args, 'arguments');
    if (first) throw invalid(first, ...rest);
    this.enter(caller.tenant);
    try {
      return await this.recorded(caller, known, args, signal);
    } finally {
      this.leave(caller.tenant);
    }
  }

  private async recorded(
    caller: Caller,
    known: KnownFunction,
    args: Arguments,
    signal: AbortSignal,
  ): Promise<Invocation> {
    const { app, store } = this.parts;
    const row = this.newRow(known);
    const began = performance.now();
    const elapsed = () => Math.round(performance.now() - began);
    store.begin(row, KEPT_INVOCATIONS);
    const finish = (end: Omit<InvocationEnd, 'durationMs'>) => {
      const error = end.error?.slice(0, MOST_ERROR) ?? null;
      store.finish(row.tenant, row.id, { ...end, error, durationMs: elapsed() });
    };
    try {
      const outcome = await this.run(caller, known, row.id, args, signal);
      finish({ status: outcome.status, error: outcome.error ?? null, attempts: outcome.attempts });
      const { name } = known.row;
      app.log.debug('function called', { function: name, invocation: row.id, status: outcome.status });
      return { ...outcome, id: row.id, durationMs: elapsed() };
    } catch (error) {
      const isLeft = signal.aborted || (error instanceof AppError && error.code === 'cancelled');
      const { message } = asAppError(error);
      finish({ status: isLeft ? 'cancelled' : 'error', error: message, attempts: 1 });
      throw isLeft ? fail('cancelled') : error;
    }
  }

  private run(
    caller: Caller,
    { row, config }: KnownFunction,
    id: string,
    args: Arguments,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { app, pool } = this.parts;
    const { timeoutMs, maxRetries: retries } = row;
    const patience = { timeoutMs, attemptMs: 0, retries, signal };
    switch (config.mode) {
      case 'webhook': {
        const mark = { id, functionName: row.name, nowMs: app.clock.now() };
        const request = webhookRequest(config.webhook, args, mark);
        return exchange(app.outbound, request, { ...patience, attemptMs: config.webhook.timeoutMs });
      }
      case 'proxy':
        return exchange(app.outbound, proxyRequest(config.proxy, args), patience).then((outcome) =>
          outcome.status === 'success'
            ? { ...outcome, result: proxyResult(config.proxy, outcome.result) }
            : outcome,
        );
      case 'isolated': {
        const { name: functionName, id: functionId, memoryMb } = row;
        const code = { functionId, functionName, memoryMb, ...config.isolated };
        return pool.call(caller, code, args, timeoutMs, signal);
      }
    }
  }

  private schemaOf({ row }: KnownFunction): ArgumentSchema {
    const known = this.schemas.get(row.id);
    if (known?.text === row.parameters) return known.schema;
    const schema = argumentSchema(JSON.parse(row.parameters) as Record<string, unknown>, 'parameters');
    this.schemas.delete(row.id);
    this.schemas.set(row.id, { text: row.parameters, schema });
    const [oldest] = this.schemas.keys();
    if (this.schemas.size > KEPT_SCHEMAS && oldest !== undefined) this.schemas.delete(oldest);
    return schema;
  }

  private enter(tenant: string): void {
    const now = this.running.get(tenant) ?? 0;
    if (now >= MOST_CALLS)
      throw fail('resource_exhausted', { message: `${MOST_CALLS} calls of functions run already.` });
    this.running.set(tenant, now + 1);
  }

  private leave(tenant: string): void {
    const left = (this.running.get(tenant) ?? 1) - 1;
    if (left > 0) this.running.set(tenant, left);
    else this.running.delete(tenant);
  }

  private newRow({ row: { id: functionId, tenant } }: KnownFunction): InvocationRow {
    const startedAt = this.parts.app.clock.now();
    const id = newId('call', startedAt);
    return {
      id,
      tenant,
      functionId,
      startedAt,
      status: 'running',
      error: null,
      attempts: 0,
      durationMs: null,
    };
  }
}

/** How a failure of a call is told to somebody who cannot be given an error: a model. */
export function asOutcome(error: unknown): Outcome {
  const { message, violations } = asAppError(error);
  const words = violations.map(({ field, description }) => `${field} ${description}`).join('; ');
  return failed(words || message, 0);
}
