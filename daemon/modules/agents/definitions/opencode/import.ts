import type { agentDefinitions } from '../../../../../src/api/agents/definitions.ts';
import type { Input, Output } from '../../../../../src/api/endpoint.ts';
import { AppError, invalid } from '../../../../../src/errors/app-error.ts';
import type { Caller } from '../../../../http/route.ts';
import { TOOL_NAME } from '../checks.ts';
import { type WantedAgent, WIRE_MODES } from '../definition.ts';
import type { AgentService } from '../service.ts';
import { definitionToWire, toWire } from '../wire.ts';
import { type Found, findAgent } from './document.ts';
import { FOREIGN_TOOLS, PERMISSIONS, permissionOf, TOOLS } from './names.ts';
import { isOn, type Rules, rulesOf, verdictOn } from './permission.ts';

type Request = Input<typeof agentDefinitions.ImportAgentFromOpencode>['body'];
type Answer = Output<typeof agentDefinitions.ImportAgentFromOpencode>;

/** What an agent of opencode is here, and what of it is not the same. */
interface Translated {
  readonly wanted: WantedAgent;
  readonly warnings: readonly string[];
}

/**
 * Makes an agent of one of opencode, or with `dryRun` says what it would be. One that cannot be taken is not an error: the
 * reasons are in the warnings. Errors: invalid_argument when the text is no JSON object; already_exists.
 */
export function importAgent(service: AgentService, caller: Caller, request: Request): Answer {
  const { opencodeAgentJson = '', dryRun = false } = request;
  let warnings: readonly string[] = [];
  try {
    const translated = translate(findAgent(opencodeAgentJson));
    warnings = translated.warnings;
    const draft = service.draft(caller.tenant, translated.wanted);
    const agent = dryRun
      ? { ...definitionToWire(draft), enabled: translated.wanted.enabled }
      : toWire(service.create(caller, translated.wanted));
    return { valid: true, warnings: [...warnings], agent };
  } catch (error) {
    return { valid: false, warnings: [...reasonsOf(error, dryRun), ...warnings] };
  }
}

function reasonsOf(error: unknown, dryRun: boolean): string[] {
  if (!(error instanceof AppError)) throw error;
  if (error.code === 'already_exists' && dryRun) return [error.message];
  if (error.code !== 'invalid_argument' || error.data.field === 'opencodeAgentJson') throw error;
  return error.violations.map(
    ({ field, description }) => `${OPENCODE_NAMES[field] ?? field}: ${description}.`,
  );
}

/** Fields that have another name there. */
const OPENCODE_NAMES: Readonly<Record<string, string>> = {
  systemPrompt: 'prompt',
  maxSteps: 'steps',
  'config.temperature': 'temperature',
  'config.topP': 'top_p',
  'config.reasoningEffort': 'reasoningEffort',
};

/** What an agent of opencode is here. Errors: invalid_argument when its prompt is elsewhere. */
function translate(found: Found): Translated {
  const { agent, others } = found;
  const { name, description, model, prompt, hidden, color, disable } = agent;
  if (prompt?.includes('{file:'))
    throw invalid({ field: 'prompt', description: 'is in a file: put its text in the place of {file:...}' });
  const rules = rulesOf(found.shared.permission, agent.permission);
  const tools = toolsOf(found, rules);
  return {
    wanted: {
      ...{ name, description, model, systemPrompt: prompt, hidden, color },
      ...(disable === undefined ? {} : { enabled: !disable }),
      mode: WIRE_MODES[agent.mode === 'subagent' ? 'subagent' : 'primary'],
      maxSteps: agent.steps ?? agent.maxSteps,
      tools: tools.names,
      config: configOf(found, rules, tools),
    },
    warnings: [
      ...found.warnings,
      ...warningsOf(found, rules),
      ...tools.warnings,
      ...Object.keys(others).map((key) => `${key}: has no counterpart; it is kept in config.opencode.`),
    ],
  };
}

interface Tools {
  readonly names: string[];
  readonly asked: string[];
  readonly warnings: readonly string[];
}

/** In opencode every tool is there that is not switched off; here only what is named. */
function toolsOf({ agent, shared }: Found, rules: Rules): Tools {
  const switches = [shared.tools, agent.tools];
  const own = Object.keys(TOOLS).filter((tool) => isOn(switches, tool, true));
  const strange = switches
    .flatMap((tools = {}) => Object.keys(tools))
    .filter((tool) => !Object.hasOwn(TOOLS, tool) && isOn(switches, tool, false) && tool !== '*');
  const named = [...new Set(strange)].filter((tool) => !FOREIGN_TOOLS.has(tool) && TOOL_NAME.test(tool));
  const on = [...own, ...named].filter((tool) => verdictOn(rules, permissionOf(tool)).action !== 'deny');
  return {
    names: on.map(nameHere),
    asked: on.filter((tool) => verdictOn(rules, permissionOf(tool)).action === 'ask').map(nameHere),
    warnings: [...new Set(strange)].map((tool) =>
      named.includes(tool)
        ? `tools.${tool}: is no tool of opencode; it is taken as a tool of that name here.`
        : `tools.${tool}: has no counterpart.`,
    ),
  };
}

const nameHere = (tool: string) => TOOLS[tool] ?? tool;

function configOf({ agent, others }: Found, rules: Rules, { asked, names }: Tools): Record<string, unknown> {
  const { temperature, top_p: topP, reasoningEffort } = agent;
  const only = names.includes('spawn_agent') ? verdictOn(rules, 'task').only : [];
  const opencode = {
    ...others,
    ...(agent.mode === 'all' ? { mode: 'all' } : {}),
    ...keptOf(agent, rules, names),
  };
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(asked.length === 0 ? {} : { approval: { tools: asked } }),
    ...(only.length === 0 ? {} : { spawn: { agents: only } }),
    ...(Object.keys(opencode).length === 0 ? {} : { opencode }),
  };
}

/** The permissions that are not told apart here, or are for nothing here, as they were: an export has them again. */
function keptOf(
  { permission }: Found['agent'],
  rules: Rules,
  tools: readonly string[],
): { permission?: object } {
  if (typeof permission !== 'object') return {};
  const kept = Object.entries(permission).filter(([tool, rule]) => {
    const isForeign = tool !== '*' && !Object.hasOwn(PERMISSIONS, tool) && !tools.includes(tool);
    const isOnHere = PERMISSIONS[tool]?.some((one) => tools.includes(nameHere(one))) ?? false;
    const alone = verdictOn(rulesOf({ [tool]: rule }), tool);
    const whole = verdictOn(rules, tool);
    return isForeign || (isOnHere && alone.isRough && whole.isRough && alone.action === whole.action);
  });
  return kept.length === 0 ? {} : { permission: Object.fromEntries(kept) };
}

function warningsOf({ agent, shared }: Found, rules: Rules): string[] {
  const permissions = [shared.permission, agent.permission].flatMap((one) =>
    typeof one === 'object' ? Object.keys(one) : [],
  );
  const switches = { ...shared.tools, ...agent.tools };
  return [
    ...(agent.mode === 'all' || agent.mode === undefined
      ? ['mode: all is primary here; a primary agent may be started by other agents, too.']
      : []),
    ...(agent.steps !== undefined || agent.maxSteps !== undefined
      ? ['steps: are counted here over a session, not over one request.']
      : []),
    ...[...new Set(permissions)].flatMap((tool) => {
      if (Object.hasOwn(switches, tool)) return [];
      if (tool !== '*' && !Object.hasOwn(PERMISSIONS, tool))
        return [`permission.${tool}: has no counterpart.`];
      const { isRough } = verdictOn(rules, tool);
      return isRough ? [`permission.${tool}: patterns are not told apart here; every call asks.`] : [];
    }),
  ];
}
