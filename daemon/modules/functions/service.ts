import type { Input } from '../../../src/api/endpoint.ts';
import type { functions } from '../../../src/api/functions/functions.ts';
import { fail, invalid } from '../../../src/errors/app-error.ts';
import { newId } from '../../../src/kit/id.ts';
import { pageOf } from '../../../src/kit/page.ts';
import type { App } from '../../app.ts';
import type { Caller } from '../../http/route.ts';
import { argumentSchema } from '../../json-schema/argument-schema.ts';
import { type FunctionConfig, type Mode, modeOf, readConfig } from './config/config.ts';
import type { FunctionStore } from './store.ts';
import type { FunctionRow, InvocationRow } from './tables.ts';
import type { KnownFunction } from './wire.ts';

/** A function as a caller wants it; in a change, only what is to be another. */
export type WantedFunction = Input<typeof functions.UpdateFunction>['body'];

/** Which functions a caller wants to see. */
type ListQuery = Input<typeof functions.ListFunctions>['query'];

/** What a tool may be called, too: models take no other names. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MOST_FUNCTIONS = 1_000;
const MOST_DESCRIPTION = 4_096;
/** The calls of each function that are remembered. */
export const KEPT_INVOCATIONS = 100;

const DEFAULTS = { timeoutMs: 30_000, memoryMb: 256, maxRetries: 0 };
const LIMITS = {
  timeoutMs: [1, 15 * 60_000],
  memoryMb: [64, 1_048_576],
  maxRetries: [0, 10],
} as const;

type Numbers = Record<keyof typeof LIMITS, number>;

/** Keeps the functions of tenants. */
export class FunctionService {
  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit' | 'secrets' | 'config'>,
    private readonly store: FunctionStore,
    /** Told when a function is changed or gone. */
    private readonly changed: (tenant: string, id: string) => void,
  ) {}

  list(tenant: string, { mode, enabled, ...page }: ListQuery): { found: KnownFunction[]; total: number } {
    const { rows, total } = this.store.list(tenant, { mode: modeOf(mode), enabled, ...pageOf(page) });
    return { found: rows.map((row) => this.open(row)), total };
  }

  /** A function by its id or name. Errors: not_found naming it, also for another tenant's. */
  get(tenant: string, idOrName: string): KnownFunction {
    const row = this.store.find(tenant, idOrName) ?? this.store.findByName(tenant, idOrName);
    if (!row) throw fail('not_found', { what: 'function', id: idOrName });
    return this.open(row);
  }

  /** A function by its name alone. Errors: not_found naming it. */
  getByName(tenant: string, name: string): KnownFunction {
    const row = this.store.findByName(tenant, name);
    if (!row) throw fail('not_found', { what: 'function', id: name });
    return this.open(row);
  }

  /** Makes a function. Errors: invalid_argument naming the field, already_exists (name), resource_exhausted. */
  create({ tenant, actor }: Caller, wanted: WantedFunction): KnownFunction {
    const now = this.app.clock.now();
    const id = newId('fn', now);
    const config = readConfig(wanted);
    const row: FunctionRow = {
      id,
      tenant,
      ...this.checked(wanted, config.mode),
      sealed: this.seal(tenant, id, config),
      enabled: wanted.enabled ?? true,
      createdAt: now,
      updatedAt: now,
    };
    this.app.db.transaction(() => {
      this.refuseTaken(tenant, row.name);
      if (this.store.count(tenant) >= MOST_FUNCTIONS)
        throw fail('resource_exhausted', { message: `A tenant has at most ${MOST_FUNCTIONS} functions.` });
      this.store.insert(row);
      const details = { name: row.name, mode: row.mode };
      this.app.audit.record({ tenant, actor, action: 'function.create', target: id, details });
    });
    return { row, config };
  }

  /** Changes what is sent of a function. Errors: as `create`, not_found. */
  update({ tenant, actor }: Caller, id: string, wanted: WantedFunction): KnownFunction {
    const { row: old, config: earlier } = this.get(tenant, id);
    const config = readConfig(wanted, earlier);
    const row: FunctionRow = {
      ...old,
      ...this.checked(wanted, config.mode, old),
      sealed: this.seal(tenant, old.id, config),
      enabled: wanted.enabled ?? old.enabled,
      updatedAt: this.app.clock.now(),
    };
    this.app.db.transaction(() => {
      if (row.name !== old.name) this.refuseTaken(tenant, row.name);
      this.store.change(tenant, old.id, row);
      const details = { fields: Object.keys(wanted).filter((name) => name !== 'tenantId') };
      this.app.audit.record({ tenant, actor, action: 'function.update', target: old.id, details });
    });
    this.changed(tenant, old.id);
    return { row, config };
  }

  /** Removes a function with the record of its calls. Errors: not_found. */
  remove({ tenant, actor }: Caller, id: string): FunctionRow {
    const { row } = this.get(tenant, id);
    this.app.db.transaction(() => {
      this.store.remove(tenant, row.id);
      const details = { name: row.name };
      this.app.audit.record({ tenant, actor, action: 'function.delete', target: row.id, details });
    });
    this.changed(tenant, row.id);
    return row;
  }

  /** The last calls of a function, newest first. Errors: not_found. */
  invocations(tenant: string, id: string, limit = KEPT_INVOCATIONS): InvocationRow[] {
    if (limit < 1 || limit > KEPT_INVOCATIONS)
      throw invalid({ field: 'limit', description: `must be between 1 and ${KEPT_INVOCATIONS}` });
    return this.store.invocations(tenant, this.get(tenant, id).row.id, limit);
  }

  private checked(wanted: WantedFunction, mode: Mode, old?: FunctionRow) {
    const name = wanted.name ?? old?.name ?? '';
    if (!NAME.test(name))
      throw invalid({ field: 'name', description: 'must be 1 to 64 letters, digits, dashes or underscores' });
    if (/^(fn_|mcp__)/.test(name))
      throw invalid({
        field: 'name',
        description: 'must not begin with fn_ or mcp__, which mark other things',
      });
    const description = wanted.description ?? old?.description ?? '';
    if (description.length > MOST_DESCRIPTION)
      throw invalid({ field: 'description', description: `must be at most ${MOST_DESCRIPTION} characters` });
    if (wanted.parameters) argumentSchema(wanted.parameters, 'parameters');
    const parameters = wanted.parameters ? JSON.stringify(wanted.parameters) : (old?.parameters ?? '{}');
    return { name, description, mode, parameters, ...this.numbers(wanted, old) };
  }

  /** The limits of a function. 0 asks for what is usual, as the reference has it. */
  private numbers(wanted: Partial<Numbers>, old?: Numbers): Numbers {
    const most = { ...LIMITS, memoryMb: [64, this.app.config.get('sandbox.max_memory_mb')] as const };
    const read = (field: keyof Numbers) => {
      const value =
        wanted[field] === undefined ? (old?.[field] ?? DEFAULTS[field]) : wanted[field] || DEFAULTS[field];
      const [least, largest] = most[field];
      if (wanted[field] !== undefined && (value < least || value > largest))
        throw invalid({ field, description: `must be between ${least} and ${largest}` });
      return value;
    };
    return { timeoutMs: read('timeoutMs'), memoryMb: read('memoryMb'), maxRetries: read('maxRetries') };
  }

  private refuseTaken(tenant: string, name: string): void {
    if (this.store.findByName(tenant, name)) throw fail('already_exists', { what: 'function', id: name });
  }

  private seal(tenant: string, id: string, config: FunctionConfig): string {
    return this.app.secrets.seal(tenant, id, JSON.stringify(config));
  }

  private open(row: FunctionRow): KnownFunction {
    const text = this.app.secrets.open(row.tenant, row.id, row.sealed);
    return { row, config: JSON.parse(text) as FunctionConfig };
  }
}
