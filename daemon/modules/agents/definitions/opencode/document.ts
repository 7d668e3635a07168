import { fields, oneOf, t, type Value } from '../../../../../src/api/schema.ts';
import { invalid } from '../../../../../src/errors/app-error.ts';
import { validator } from '../../../../http/validate.ts';

const Action = oneOf('ask', 'allow', 'deny');
const Permission = t.Union([Action, t.Record(t.String(), t.Union([Action, t.Record(t.String(), Action)]))]);

/** What is read of an agent of opencode (opencode.ai/docs/agents). Other keys pass. */
const AGENT = fields({
  name: t.String(),
  description: t.String(),
  mode: oneOf('primary', 'subagent', 'all'),
  model: t.String(),
  prompt: t.String(),
  temperature: t.Number(),
  top_p: t.Number(),
  steps: t.Integer(),
  maxSteps: t.Integer(),
  reasoningEffort: t.String(),
  tools: t.Record(t.String(), t.Boolean()),
  permission: Permission,
  disable: t.Boolean(),
  hidden: t.Boolean(),
  color: t.String(),
});

/** What a tool may do in opencode. */
export type Action = Value<typeof Action>;

/** Permissions as opencode has them: one word, or words by tool, or by tool and pattern. */
export type Permission = Value<typeof Permission>;

/** An agent of opencode. */
export type OpencodeAgent = Value<typeof AGENT>;

/** An agent of opencode out of its document. */
export interface Found {
  readonly agent: OpencodeAgent;
  /** What holds for all agents of the document, where it is a whole configuration. */
  readonly shared: Pick<OpencodeAgent, 'permission' | 'tools'>;
  /** Keys of the agent that are not read, with their values. */
  readonly others: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
}

const check = validator(AGENT, 'compat');
/** Keys beside `agent` that say nothing of an agent. */
const SILENT = new Set(['$schema', 'agent', 'model', 'permission', 'tools']);

/**
 * Finds the agent in a text: alone, or as the only one under `agent` of a configuration. Errors: invalid_argument, naming
 * `opencodeAgentJson` when the text is not a JSON object, and else each wrong key.
 */
export function findAgent(text: string): Found {
  const document = parsed(text);
  if (!isObject(document.agent)) return { ...agentOf(document), shared: {}, warnings: [] };
  const names = Object.keys(document.agent);
  const [name] = names;
  if (name === undefined || names.length > 1)
    throw invalid({
      field: 'agent',
      description: name
        ? `there are ${names.length}: send one of ${names.join(', ')}`
        : 'there is none in it',
    });
  const body: unknown = document.agent[name];
  if (!isObject(body)) throw invalid({ field: `agent.${name}`, description: 'must be an object' });
  const { model, permission, tools } = check.check(document) as OpencodeAgent;
  return {
    ...agentOf({ ...(model === undefined ? {} : { model }), ...body, name: body.name ?? name }),
    shared: { permission, tools },
    warnings: Object.keys(document)
      .filter((key) => !SILENT.has(key))
      .map((key) => `${key}: is not of an agent, and is left out.`),
  };
}

function agentOf(body: Readonly<Record<string, unknown>>): Pick<Found, 'agent' | 'others'> {
  const agent = check.check(body) as OpencodeAgent;
  const others = Object.entries(body).filter(
    ([key]) => key !== '$schema' && !Object.hasOwn(AGENT.properties, key),
  );
  return { agent, others: Object.fromEntries(others) };
}

function parsed(text: string): Record<string, unknown> {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw invalid({ field: 'opencodeAgentJson', description: 'is not JSON' });
  }
  if (!isObject(document))
    throw invalid({ field: 'opencodeAgentJson', description: 'must be a JSON object' });
  return document;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
