import { fail, invalid } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { Agents } from '../definitions/agent.ts';
import { newSession } from './new-session.ts';
import type { ListedSession, SessionFilter, SessionStore } from './store.ts';
import type { SessionRow } from './tables.ts';
import type { TurnService } from './turn-service.ts';

/** Sessions of one tenant that are not over. */
const MOST_OPEN = 100_000;
const MOST_METADATA = 64 * 1024;
const MOST_STEERS = 64;
const MOST_STEER = 256 * 1024;

/** What a session is opened with. */
export interface OpenSession {
  readonly agentId: string;
  readonly metadata: Record<string, unknown>;
}

/** What is said to a turn that is under way. */
export interface Steering {
  readonly role: 'user' | 'system';
  readonly content: string;
  /** The question that it answers; whichever waits when absent. */
  readonly userInputId?: string;
}

/** Opens, shows and ends sessions. */
export class SessionService {
  constructor(
    private readonly app: Pick<App, 'clock' | 'audit'>,
    private readonly agents: Agents,
    private readonly store: SessionStore,
    private readonly turns: TurnService,
  ) {}

  /** Opens a session of an agent, which keeps the agent as it is now. Errors: not_found, failed_precondition, resource_exhausted. */
  create(caller: Caller, { agentId, metadata }: OpenSession): SessionRow {
    this.turns.allow(caller.tenant);
    if (agentId === '') throw invalid({ field: 'agentId', description: 'is required' });
    if (JSON.stringify(metadata).length > MOST_METADATA)
      throw invalid({ field: 'metadata', description: `is more than ${MOST_METADATA / 1024} KiB` });
    const agent = this.agents.get(caller.tenant, agentId);
    if (!this.agents.find(caller.tenant, agent.id))
      throw fail('failed_precondition', {
        message: `The agent ${agent.name} is off. Turn it on: PATCH /v1/agents/${agent.id} {"enabled": true}.`,
      });
    if (agent.mode === 'subagent')
      throw fail('failed_precondition', {
        message: `The agent ${agent.name} is a sub-agent: only other agents may start it.`,
      });
    if (this.store.countOpen(caller.tenant) >= MOST_OPEN)
      throw fail('resource_exhausted', {
        message: `${MOST_OPEN} sessions are open already. Complete some of them.`,
      });
    const row = newSession(agent, metadata, this.app.clock.now());
    this.store.insert(row);
    return row;
  }

  /** Errors: not_found. */
  get(tenant: string, id: string): SessionRow {
    const row = this.store.find(tenant, id);
    if (!row) throw fail('not_found', { what: 'session', id });
    return row;
  }

  list(tenant: string, filter: SessionFilter): { rows: ListedSession[]; total: number } {
    return this.store.list(tenant, filter);
  }

  /** Ends a session for good. Errors: not_found; failed_precondition while a turn is under way, or when it was cancelled. */
  complete({ tenant }: Caller, id: string): string {
    const session = this.get(tenant, id);
    if (session.status === 'completed') return 'The session was completed before.';
    if (session.status === 'cancelled')
      throw fail('failed_precondition', { message: `The session ${id} was cancelled.` });
    this.turns.complete(session);
    return 'The session is completed.';
  }

  /** Ends a session and what it is doing, for good. Errors: not_found; failed_precondition when it was completed. */
  cancel({ tenant, actor }: Caller, id: string): string {
    const session = this.get(tenant, id);
    if (session.status === 'cancelled') return 'The session was cancelled before.';
    if (session.status === 'completed')
      throw fail('failed_precondition', { message: `The session ${id} is completed.` });
    this.turns.cancel(session, `Cancelled by ${actor}.`);
    return 'The session is cancelled.';
  }

  /**
   * Says something to a turn that is under way: it joins at the next step, and answers a question that waits. Errors:
   * not_found, failed_precondition when nothing is under way, invalid_argument, resource_exhausted.
   */
  steer({ tenant }: Caller, id: string, { role, content, userInputId }: Steering): string {
    if (content.trim() === '') throw invalid({ field: 'content', description: 'is required' });
    if (content.length > MOST_STEER)
      throw invalid({ field: 'content', description: `is more than ${MOST_STEER / 1024} KiB` });
    const session = this.get(tenant, id);
    const turn = this.store.current(tenant, id);
    if (!turn)
      throw fail('failed_precondition', {
        message: `No turn of the session ${id} is under way. Begin one: POST /v1/agents/sessions/${id}/turns.`,
      });
    if (role === 'user' && this.turns.answer(session, content, userInputId))
      return 'The question is answered.';
    if (this.store.countSteers(id) >= MOST_STEERS)
      throw fail('resource_exhausted', { message: `${MOST_STEERS} messages wait already.` });
    this.store.addSteer(id, role, content);
    return 'The message joins the turn at its next step.';
  }
}
