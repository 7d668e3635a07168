import type { agentDefinitions } from '../../../../src/api/agents/definitions.ts';
import type { Input } from '../../../../src/api/endpoint.ts';
import { fail } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import { pageOf } from '../../../../src/kit/page.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import { changesBetween, type Definition, defined, MODES, type WantedAgent } from './definition.ts';
import type { AgentStore } from './store.ts';
import type { AgentRow, VersionRow } from './tables.ts';

/** Which agents a caller wants to see. */
export type ListQuery = Input<typeof agentDefinitions.ListAgents>['query'];

/** How an agent is made or changed when it is not a person who does it by hand. */
export interface ChangeOptions {
  /** The agent that does it for the caller. */
  readonly byAgent?: string;
  /** Looks at what an agent was and would become, and throws when that must not be. */
  readonly guard?: (next: Definition, old: AgentRow | undefined) => void;
  /** The id of a new agent, where its maker has to know it before. */
  readonly id?: string;
}

/** The versions of each agent that are kept. */
export const KEPT_VERSIONS = 100;

const MOST_AGENTS = 1_000;
const MOST_LISTED = 200;

/** Keeps the agents of tenants, and what they were. */
export class AgentService {
  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit'>,
    private readonly store: AgentStore,
  ) {}

  /** A page of at most 200, in the order of their names. */
  list(tenant: string, { enabled, mode, includeHidden, ...page }: ListQuery) {
    const { limit, offset } = pageOf(page);
    return this.store.list(tenant, {
      enabled,
      mode: MODES[mode ?? ''],
      includeHidden: includeHidden ?? false,
      limit: Math.min(limit, MOST_LISTED),
      offset,
    });
  }

  /** An agent by its id, name or mention alias. Errors: not_found naming it, also for another tenant's. */
  get(tenant: string, reference: string): AgentRow {
    const row = this.find(tenant, reference);
    if (!row) throw fail('not_found', { what: 'agent', id: reference });
    return row;
  }

  /** As `get`, but undefined when there is none. */
  find(tenant: string, reference: string): AgentRow | undefined {
    return this.store.find(tenant, reference) ?? this.store.findByWord(tenant, reference);
  }

  /** What would be made, without making it. Errors: as `create`. */
  draft(tenant: string, wanted: WantedAgent): Definition {
    const definition = defined(wanted);
    this.refuseTaken(tenant, definition, '');
    if (this.store.count(tenant) >= MOST_AGENTS)
      throw fail('resource_exhausted', { message: `A tenant has at most ${MOST_AGENTS} agents.` });
    return definition;
  }

  /** Makes an agent. Errors: invalid_argument naming the field, already_exists (name, alias), resource_exhausted. */
  create(caller: Caller, wanted: WantedAgent, { id, byAgent, guard }: ChangeOptions = {}): AgentRow {
    const { tenant, actor } = caller;
    const now = this.app.clock.now();
    return this.app.db.transaction(() => {
      const definition = this.draft(tenant, wanted);
      guard?.(definition, undefined);
      const row: AgentRow = {
        id: id ?? newId('agt', now),
        tenant,
        ...columnsOf(definition),
        enabled: wanted.enabled ?? true,
        version: 1,
        definition,
        createdAt: now,
        updatedAt: now,
      };
      this.store.insert(row);
      this.keep(row, [], actor, byAgent);
      this.record(caller, 'agent.create', row, { name: row.name, byAgent });
      return row;
    });
  }

  /**
   * Changes what is sent of an agent; what changes nothing makes no version. Errors: as `create`, not_found,
   * stale_version.
   */
  update(caller: Caller, reference: string, wanted: WantedAgent, options: ChangeOptions = {}): AgentRow {
    return this.app.db.transaction(() => {
      const old = this.get(caller.tenant, reference);
      const { version: given } = wanted;
      if (given !== undefined && given !== old.version)
        throw fail('stale_version', { what: `The agent ${old.name}`, given, current: old.version });
      return this.become(caller, old, defined(wanted, old.definition), {
        ...options,
        enabled: wanted.enabled ?? old.enabled,
        action: 'agent.update',
      });
    });
  }

  /** Removes an agent and its versions. Errors: not_found. */
  remove(caller: Caller, reference: string): AgentRow {
    return this.app.db.transaction(() => {
      const row = this.get(caller.tenant, reference);
      this.store.remove(caller.tenant, row.id);
      this.record(caller, 'agent.delete', row, { name: row.name });
      return row;
    });
  }

  /** The changes of an agent, newest first. Errors: not_found. */
  versions(tenant: string, reference: string): Array<Omit<VersionRow, 'definition'>> {
    return this.store.versions(tenant, this.get(tenant, reference).id);
  }

  /** An agent at a version. Errors: not_found naming the agent, or the version. */
  version(tenant: string, reference: string, version: number): { agent: AgentRow; was: VersionRow } {
    const agent = this.get(tenant, reference);
    const was = this.store.version(tenant, agent.id, version);
    if (!was) throw fail('not_found', { what: `version of the agent ${agent.name}`, id: String(version) });
    return { agent, was };
  }

  /** Makes an agent what it was. Whether it is on stays. Errors: as `version`, already_exists. */
  restore(caller: Caller, reference: string, version: number): AgentRow {
    return this.app.db.transaction(() => {
      const { agent, was } = this.version(caller.tenant, reference, version);
      return this.become(caller, agent, was.definition, {
        enabled: agent.enabled,
        action: 'agent.restore',
      });
    });
  }

  private become(
    caller: Caller,
    old: AgentRow,
    definition: Definition,
    { enabled, action, byAgent, guard }: ChangeOptions & { enabled: boolean; action: string },
  ): AgentRow {
    guard?.(definition, old);
    const changes = changesBetween(old.definition, definition);
    if (changes.length === 0 && enabled === old.enabled) return old;
    this.refuseTaken(caller.tenant, definition, old.id);
    const row: AgentRow = {
      ...old,
      ...columnsOf(definition),
      enabled,
      definition,
      version: changes.length === 0 ? old.version : old.version + 1,
      updatedAt: this.app.clock.now(),
    };
    this.store.change(caller.tenant, old.id, row);
    if (changes.length > 0) this.keep(row, changes, caller.actor, byAgent);
    const fields = [...changes, ...(enabled === old.enabled ? [] : ['enabled'])];
    this.record(caller, action, row, { fields, version: row.version, byAgent });
    return row;
  }

  private keep(row: AgentRow, changes: string[], actor: string, byAgent: string | undefined): void {
    const { id: agentId, tenant, version, definition, updatedAt: createdAt } = row;
    const kept = {
      agentId,
      tenant,
      version,
      definition,
      changes,
      actor,
      byAgent: byAgent ?? null,
      createdAt,
    };
    this.store.addVersion(kept, KEPT_VERSIONS);
  }

  private refuseTaken(tenant: string, { name, mentionAlias }: Definition, id: string): void {
    if (this.store.isTaken(tenant, name, id)) throw fail('already_exists', { what: 'agent', id: name });
    if (mentionAlias === '') return;
    if (this.store.isTaken(tenant, mentionAlias, id))
      throw fail('already_exists', { what: 'agent with the alias', id: mentionAlias });
  }

  private record({ tenant, actor }: Caller, action: string, { id: target }: AgentRow, details: object): void {
    this.app.audit.record({ tenant, actor, action, target, details: { ...details } });
  }
}

/** What stands beside a definition, for lists and references. */
function columnsOf({ name, mentionAlias, mode, hidden }: Definition) {
  return { name, mentionAlias: mentionAlias || null, mode, hidden };
}
