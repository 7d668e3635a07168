import type { AgentDefinition } from '../../../src/api/agents/definitions.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { Cli } from '../../cli.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { permissionWord, toYaml } from './document.ts';

/** An agent as the daemon tells of it. */
export type ShownAgent = Value<typeof AgentDefinition>;

/** How an agent is printed. */
export interface ShowOptions {
  readonly json?: true;
  readonly yaml?: true;
}

/** `primary` or `subagent`. */
export function modeText({ mode }: ShownAgent): string {
  return mode?.replace('AGENT_MODE_', '').toLowerCase() ?? '';
}

/** Prints an agent: its fields, as JSON, or as YAML that create and edit take. */
export function showAgent(cli: Cli, agent: ShownAgent, { json, yaml }: ShowOptions): void {
  if (json) showJson(cli, agent);
  else if (yaml) cli.terminal.out.write(toYaml(agent));
  else showFields(cli, fieldsOf(agent));
}

/** Says on stderr what may be meant otherwise. */
export function showWarnings(cli: Cli, warnings: readonly string[] = []): void {
  for (const one of warnings) cli.terminal.note(`${cli.terminal.err.style.yellow('warning:')} ${one}`);
}

function fieldsOf(agent: ShownAgent): Array<readonly [string, string | undefined]> {
  const { memoryConfig, systemPrompt = '', config = {} } = agent;
  const count = (value: number | undefined) => (value ? String(value) : undefined);
  return [
    ['id', agent.id],
    ['name', agent.name],
    ['description', agent.description],
    ['model', agent.model],
    ['mode', modeText(agent)],
    ['alias', agent.mentionAlias ? `@${agent.mentionAlias}` : undefined],
    ['tools', agent.tools?.join(', ')],
    ['permission', permissionWord(agent.taskPermissionMode)],
    ['turns', count(agent.maxTurns)],
    ['tool calls a turn', count(agent.maxToolCallsPerTurn)],
    ['steps', count(agent.maxSteps)],
    ['directory', agent.workingDirectory],
    ['memory', memoryConfig?.enabled ? memoryConfig.scope : 'off'],
    ['config', Object.keys(config).length > 0 ? JSON.stringify(config) : undefined],
    ['color', agent.color],
    ['state', `${agent.enabled ? 'on' : 'off'}${agent.hidden ? ', hidden' : ''}`],
    ['version', String(agent.version ?? '')],
    ['changed', relativeTime(agent.updatedAt)],
    ['prompt', systemPrompt],
  ];
}
