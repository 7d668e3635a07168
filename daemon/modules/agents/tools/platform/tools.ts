import { ROLES, type Role } from '../../../../../src/api/endpoint.ts';
import { AppError, fail } from '../../../../../src/errors/app-error.ts';
import { newId } from '../../../../../src/kit/id.ts';
import { readConfig } from '../../definitions/config.ts';
import { type Definition, WIRE_MODES } from '../../definitions/definition.ts';
import type { AgentService } from '../../definitions/service.ts';
import { done, failed, type Tool, type ToolContext, type ToolOutcome, type ToolSource } from '../tool.ts';
import { type AgentArguments, ARGUMENTS } from './arguments.ts';
import { excessOf, looserThan, type Powers } from './bounds.ts';
import { brief, full } from './shown.ts';
import { changedAgent, newAgent } from './wanted.ts';

/** The tools with which agents see, make and change agents, by the right of the one whose turn it is. */
export function platformTools(service: AgentService): ToolSource {
  const tools = new Map<string, Tool>(
    [createTool(service), updateTool(service), getTool(service), listTool(service)].map((tool) => [
      tool.name,
      tool,
    ]),
  );
  return { find: (_, name) => tools.get(name) };
}

function createTool(service: AgentService): Tool {
  const make = (args: AgentArguments, { caller, agent }: ToolContext, id: string) =>
    outcome(() => {
      allow(caller.role, 'member');
      const guard = (next: Definition) => refuse(agent.name, excessOf(powersOf(next), agent));
      return full(service.create(caller, newAgent(args, agent), { id, byAgent: agent.id, guard }));
    });
  return {
    name: 'platform_create_agent',
    description:
      'Makes an agent. It gets no tools and no permissions that you do not have, and asks for approval wherever you do.',
    parameters: ARGUMENTS.create,
    async run(args, context) {
      const id = newId('agt');
      context.note(id);
      return make(args as AgentArguments, context, id);
    },
    // The id was written down before: either the agent is there, or nothing has happened.
    async recover(args, context, id) {
      const made = service.find(context.caller.tenant, id);
      return made ? done(JSON.stringify(full(made))) : make(args as AgentArguments, context, id);
    },
  };
}

function updateTool(service: AgentService): Tool {
  return {
    name: 'platform_update_agent',
    description:
      'Changes an agent; what is not named stays. You cannot change yourself, nor an agent that may do more than you, nor take approvals away.',
    parameters: ARGUMENTS.update,
    run: async (args, context) => change(service, args as AgentArguments, context, String(args.agent)),
    // What it sets is set to the same again. Its name may be another one by now.
    recover: async (args, context, id) => change(service, args as AgentArguments, context, id),
  };
}

function change(
  service: AgentService,
  args: AgentArguments,
  context: ToolContext,
  reference: string,
): ToolOutcome {
  const { caller, agent } = context;
  return outcome(() => {
    allow(caller.role, 'member');
    const old = service.get(caller.tenant, reference);
    if (old.id === agent.id)
      throw fail('failed_precondition', { message: 'An agent does not change itself.' });
    const before = powersOf(old.definition);
    const guard = (next: Definition) => {
      refuse(agent.name, excessOf(powersOf(next), agent));
      refuse('it was', looserThan(powersOf(next), before));
    };
    const wanted = changedAgent(args, old.definition, before.config.approval);
    context.note(old.id);
    return full(service.update(caller, old.id, wanted, { byAgent: agent.id, guard }));
  });
}

function getTool(service: AgentService): Tool {
  return {
    name: 'platform_get_agent',
    description: 'Shows an agent with its instructions, tools and approvals.',
    parameters: ARGUMENTS.get,
    isRead: true,
    isParallel: true,
    run: async ({ agent }, { caller }) => outcome(() => full(service.get(caller.tenant, String(agent)))),
  };
}

function listTool(service: AgentService): Tool {
  return {
    name: 'platform_list_agents',
    description: 'Lists the agents by name: id, what each is for, its model and tools.',
    parameters: ARGUMENTS.list,
    isRead: true,
    isParallel: true,
    run: async (args, { caller }) =>
      outcome(() => {
        const { mode, ...page } = args as { mode?: keyof typeof WIRE_MODES; limit?: number; offset?: number };
        const { rows, total } = service.list(caller.tenant, { ...page, mode: mode && WIRE_MODES[mode] });
        return { agents: rows.map(brief), total };
      }),
  };
}

/** What was refused is told to the model, in words. */
function outcome(work: () => object): ToolOutcome {
  try {
    return done(JSON.stringify(work()));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return failed(error.hint ? `${error.message} ${error.hint}` : error.message);
  }
}

function allow(role: Role, need: Role): void {
  if (ROLES.indexOf(role) < ROLES.indexOf(need)) throw fail('forbidden', { need });
}

function refuse(bound: string, excess: readonly string[]): void {
  if (excess.length === 0) return;
  throw fail('failed_precondition', {
    message: `It would have more than ${bound}: ${excess.join('; ')}. A person can do this by hand.`,
  });
}

function powersOf(definition: Definition): Powers {
  return { ...definition, config: readConfig(definition.config) };
}
