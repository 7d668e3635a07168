import type { Agent } from '../definitions/agent.ts';
import {
  done,
  failed,
  type JsonObject,
  type Tool,
  type ToolContext,
  type ToolSource,
} from '../tools/tool.ts';
import type { SpawnService } from './service.ts';
import type { SpawnRow } from './tables.ts';
import { nodeStatus } from './wire.ts';

const TASK = {
  type: 'object',
  properties: {
    agent: { type: 'string', description: 'The name or id of the agent.' },
    task: { type: 'string', description: 'Everything that it must know: it sees nothing else.' },
  },
  required: ['agent', 'task'],
  additionalProperties: false,
};

const JOB = {
  type: 'object',
  properties: { jobId: { type: 'string' } },
  required: ['jobId'],
  additionalProperties: false,
};

/** The tools by which an agent starts others. */
export function spawnTools(spawns: SpawnService): ToolSource {
  const tools = new Map(
    [spawnAgent(spawns), delegateJob(spawns), checkJob(spawns)].map((tool) => [tool.name, tool]),
  );
  return {
    find({ config }: Agent, name) {
      const isJobTool = name === 'delegate_job' || name === 'check_job';
      return isJobTool && !config.spawn.async ? undefined : tools.get(name);
    },
  };
}

function spawnAgent(spawns: SpawnService): Tool {
  return {
    name: 'spawn_agent',
    description: 'Starts another agent on a task, waits until it is over, and gives its answer.',
    parameters: TASK,
    isParallel: true,
    // A call starts its agent once, so that it is taken up again by being carried out again.
    recover: (args, context) => waitFor(spawns, started(spawns, args, context, false), context),
    run: (args, context) => waitFor(spawns, started(spawns, args, context, false), context),
  };
}

function delegateJob(spawns: SpawnService): Tool {
  const begin = async (args: JsonObject, context: ToolContext) => {
    const { id } = started(spawns, args, context, true);
    return done(
      `The job ${id} has begun. Its result comes by itself when it is there; check_job looks at it.`,
    );
  };
  return {
    name: 'delegate_job',
    description: 'Starts another agent on a task and goes on at once. The result comes later.',
    parameters: TASK,
    recover: begin,
    run: begin,
  };
}

function checkJob(spawns: SpawnService): Tool {
  return {
    name: 'check_job',
    description: 'Tells how a job stands that was begun with delegate_job.',
    parameters: JOB,
    isRead: true,
    async run({ jobId }, { caller, sessionId }) {
      const known = spawns.get(caller.tenant, sessionId, String(jobId));
      const { result, error } = known;
      return done(`${nodeStatus(known)}\n${error ?? result ?? ''}`.trimEnd());
    },
  };
}

function started(spawns: SpawnService, args: JsonObject, context: ToolContext, isJob: boolean): SpawnRow {
  const [agent, task] = [String(args.agent), String(args.task)];
  return spawns.start(context, agent, task, isJob);
}

async function waitFor(spawns: SpawnService, node: SpawnRow, context: ToolContext) {
  const known = await spawns.ended(node, context.signal);
  const status = nodeStatus(known);
  const output = known.error ?? known.result ?? '';
  const shown = { nodeId: node.id, sessionId: node.sessionId, status };
  context.tell({ type: 'spawn.end', toolArgs: JSON.stringify(shown), toolResult: output });
  return known.error === null ? done(output) : failed(`The agent has failed: ${output}`);
}
