import type { Agent, ApprovalSettings } from '../../definitions/agent.ts';
import type { Permission } from '../../reviews/face.ts';
import { policy } from '../../reviews/policy.ts';

/** What bounds are about: what an agent may do, and who is asked before it does. */
export type Powers = Pick<Agent, 'tools' | 'config' | 'permissionMode' | 'memory' | (typeof LIMITS)[number]>;

/** Limits of which 0 means the largest. */
const LIMITS = ['maxTurns', 'maxToolCallsPerTurn', 'maxSteps'] as const;

const STRICTNESS: Readonly<Record<Permission, number>> = { run: 0, ask: 1, refuse: 2 };
const NETWORKS = ['deny', 'whitelist', 'allow'];
const SCOPES = ['agent', 'user', 'global'];
/** The tools that start other agents. */
const SPAWNING = ['spawn_agent', 'delegate_job'];

/** What an agent would have beyond another one, in words; empty when it has nothing more. */
export function excessOf(agent: Powers, bound: Powers): string[] {
  const foreign = agent.tools.filter((tool) => !bound.tools.includes(tool));
  return [
    ...when(foreign.length > 0, `the tools ${foreign.join(', ')}`),
    ...looserThan(agent, bound),
    ...sandboxExcess(agent, bound),
    ...spawnExcess(agent, bound),
    ...memoryExcess(agent, bound),
    ...LIMITS.flatMap((limit) => when(isMore(agent[limit], bound[limit]), `a larger ${limit}`)),
  ];
}

/** Where fewer people would be asked than by the rules of another agent, in words. */
export function looserThan(agent: Powers, bound: Powers): string[] {
  const asked = agent.tools.filter(
    (tool) => verdict(bound, tool) === 'ask' && verdict(agent, tool) === 'ask',
  );
  const loose = agent.tools.filter((tool) =>
    [undefined, true as const].some(
      (isRead) => STRICTNESS[verdict(agent, tool, isRead)] < STRICTNESS[verdict(bound, tool, isRead)],
    ),
  );
  return [
    ...when(loose.length > 0, `less approval for ${loose.join(', ')}`),
    ...when(
      asked.length > 0 && isHastier(agent.config.approval, bound.config.approval),
      'approval by mere waiting',
    ),
  ];
}

function verdict(agent: Powers, name: string, isRead?: true): Permission {
  return policy(agent as Agent, { name, isRead });
}

/** Whether calls about which nobody decides are carried out, and were not, or sooner. */
function isHastier(agent: ApprovalSettings, bound: ApprovalSettings): boolean {
  if (agent.defaultAction === 'deny') return false;
  return bound.defaultAction === 'deny' || agent.timeoutMs < bound.timeoutMs;
}

function sandboxExcess({ config: agent }: Powers, { config: bound }: Powers): string[] {
  const reach = (mode = 'allow') => NETWORKS.indexOf(mode);
  const variables = Object.entries(agent.sandbox.env ?? {}).filter(
    ([name, value]) => bound.sandbox.env?.[name] !== value,
  );
  return [
    ...when(
      reach(agent.sandbox.networkMode) > reach(bound.sandbox.networkMode),
      'a sandbox that reaches more of the network',
    ),
    ...when(
      variables.length > 0,
      `the variables ${variables.map(([name]) => name).join(', ')} in its sandbox`,
    ),
    ...when(
      agent.lifecycle === 'persistent' && bound.lifecycle === 'ephemeral',
      'a sandbox that keeps the files of other sessions',
    ),
  ];
}

function spawnExcess({ config, tools }: Powers, { config: bound }: Powers): string[] {
  if (!tools.some((tool) => SPAWNING.includes(tool))) return [];
  const { agents, maxTokens, ...most } = bound.spawn;
  const own = config.spawn;
  const isWider = own.agents.length === 0 || own.agents.some((one) => !agents.includes(one));
  const isLarger =
    isMore(own.maxTokens, maxTokens) ||
    (['maxDepth', 'maxNodes', 'maxConcurrentJobs'] as const).some((limit) => own[limit] > most[limit]);
  return [
    ...when(agents.length > 0 && isWider, 'other agents to start'),
    ...when(isLarger, 'larger trees of agents'),
  ];
}

/** Whether a limit of which 0 means none lets more through than another one. */
function isMore(limit: number, bound: number): boolean {
  return bound > 0 && (limit === 0 || limit > bound);
}

function memoryExcess({ memory }: Powers, { memory: bound }: Powers): string[] {
  const most = bound.enabled ? SCOPES.indexOf(bound.scope) : 0;
  return when(memory.enabled && SCOPES.indexOf(memory.scope) > most, `memories of the scope ${memory.scope}`);
}

function when(isSo: boolean, words: string): string[] {
  return isSo ? [words] : [];
}
