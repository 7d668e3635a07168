import { agentDefinitions } from '../../../../src/api/agents/definitions.ts';
import { agentSessions } from '../../../../src/api/agents/sessions.ts';
import { agentTurns } from '../../../../src/api/agents/turns.ts';
import { args, type OperationTool, operationTool, optional, text } from './define.ts';

const AGENT = text('Id or name of an agent.');

/** Agents, for clients of /mcp. */
export const agentTools: readonly OperationTool[] = [
  operationTool({
    name: 'list_agents',
    description: 'Lists the agents that run_agent may be asked for.',
    args: args({}),
    access: 'viewer',
    effect: 'reads',
    async run(operations, _, inner) {
      const query = { enabled: true, limit: 200 };
      const { agents = [] } = await operations.call(agentDefinitions.ListAgents, { query }, inner);
      return { agents: agents.map(({ id, name, description, model }) => ({ id, name, description, model })) };
    },
  }),
  operationTool({
    name: 'get_agent',
    description: 'Shows an agent: its model, instructions, tools and limits.',
    args: args({ agent: AGENT }),
    access: 'viewer',
    effect: 'reads',
    run: (operations, { agent: id }, inner) =>
      operations.call(agentDefinitions.GetAgent, { params: { id } }, inner),
  }),
  operationTool({
    name: 'run_agent',
    description:
      'Gives an agent a task and waits for its answer. The answer names the session: give it again to go on with the conversation. When the status says that the agent waits for approval or input, a person has to look at the session.',
    args: args({
      agent: AGENT,
      input: text('What the agent is told.'),
      sessionId: optional(text('A session of a former call.')),
    }),
    access: 'member',
    effect: 'writes',
    async run(operations, { agent: agentId, input: userInput, sessionId: given }, inner) {
      const sessionId = given ?? (await opened());
      const params = { sessionId };
      const done = await operations.call(agentTurns.RunTurn, { params, body: { userInput } }, inner);
      const { assistantOutput: output, error } = done.turn ?? {};
      return { sessionId, status: done.sessionStatus, output, ...(error === undefined ? {} : { error }) };

      async function opened(): Promise<string> {
        const { session } = await operations.call(agentSessions.CreateSession, { body: { agentId } }, inner);
        return session?.id ?? '';
      }
    },
  }),
];
