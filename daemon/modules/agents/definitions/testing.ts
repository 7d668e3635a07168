import type { Role } from '../../../../src/api/endpoint.ts';
import type { Clock } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Call, Caller } from '../../../http/route.ts';
import { validator } from '../../../http/validate.ts';
import { openTestApp } from '../../../testing/app.ts';
import type { AgentWire } from './agent.ts';
import { createDefinitionsRoom, type DefinitionsRoom } from './index.ts';

/** What operations on agents answer. */
export interface AgentAnswer {
  readonly agent: AgentWire;
  readonly agents: AgentWire[];
  readonly total: number;
  readonly warnings: string[];
  readonly valid: boolean;
  readonly opencodeAgentJson: string;
  readonly versions: Array<{
    version: number;
    changes: string[];
    changedBy: string;
    changedByAgent?: string;
  }>;
}

/** Agents over a real database. */
export interface AgentScene {
  readonly app: App;
  readonly room: DefinitionsRoom;
  readonly clock: Clock & { ms: number };
  /** Calls an operation as a tenant; its input is checked as over HTTP. */
  call(
    operation: string,
    input?: { params?: object; query?: object; body?: object },
    tenant?: string,
  ): Promise<AgentAnswer>;
  /** Makes an agent with a model. */
  make(body: object, tenant?: string): Promise<AgentWire & { id: string }>;
}

/** Who calls, in tests. */
export function callerOf(tenant = 'org_a', role: Role = 'owner'): Caller {
  return { tenant, role, actor: 'key_1', via: 'api-key' };
}

/** Opens the room of definitions on a database in memory. */
export function openAgents(): AgentScene {
  const clock = { ms: Date.parse('2026-03-01T12:30:00Z'), now: () => clock.ms };
  const app = openTestApp(clock, {});
  const room = createDefinitionsRoom(app);
  const call: AgentScene['call'] = async (operation, input = {}, tenant) => {
    const route = room.routes.find(({ endpoint }) => endpoint.id === operation);
    if (!route) throw new Error(`There is no operation ${operation}.`);
    const { body, query } = route.endpoint;
    const checked = {
      params: input.params ?? {},
      query: query ? validator(query, 'query').check(input.query ?? {}) : {},
      body: body ? validator(body, 'native').check(input.body ?? {}) : {},
    };
    return (await route.handle({ ...checked, caller: callerOf(tenant) } as unknown as Call)) as AgentAnswer;
  };
  const make: AgentScene['make'] = async (body, tenant) => {
    const { agent } = await call('CreateAgent', { body: { model: 'local/echo', ...body } }, tenant);
    return { ...agent, id: agent.id ?? '' };
  };
  return { app, room, clock, call, make };
}
