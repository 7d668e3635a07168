import { parse, stringify } from 'yaml';
import type { agentDefinitions } from '../../../src/api/agents/definitions.ts';
import type { Input } from '../../../src/api/endpoint.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { readFileOrStdin } from '../gateway/config/section.ts';
import type { ShownAgent } from './shown.ts';

/** An agent as a command wants it. */
export type WantedAgent = Input<typeof agentDefinitions.UpdateAgent>['body'];

/** What the daemon says of an agent and nobody writes; `executionPolicy` says other fields once more. */
const NOT_WRITTEN = new Set(['id', 'tenantId', 'createdAt', 'updatedAt', 'version', 'executionPolicy']);

/** The fields that are looked at first, in this order. */
const FIRST = [
  'name',
  'description',
  'mode',
  'model',
  'systemPrompt',
  'tools',
  'taskPermissionMode',
  'config',
];

/** An agent as text that can be edited and sent back. Long texts stand in lines of their own. */
export function toYaml(agent: ShownAgent): string {
  const words = {
    ...agent,
    mode: agent.mode?.replace('AGENT_MODE_', '').toLowerCase(),
    taskPermissionMode: permissionWord(agent.taskPermissionMode),
  };
  const place = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  const fields = Object.entries(words)
    .filter(([name]) => !NOT_WRITTEN.has(name))
    .sort(([one], [other]) => place(one) - place(other));
  return stringify(Object.fromEntries(fields), { lineWidth: 0 });
}

/** `rules`, `ask`, `always` or `deny`. */
export function permissionWord(mode: ShownAgent['taskPermissionMode']): string {
  const word = mode?.replace('TASK_PERMISSION_MODE_', '').toLowerCase() ?? 'unspecified';
  return word === 'unspecified' ? 'rules' : word;
}

/** As the API names a mode. */
export const MODE_NAMES = { primary: 'AGENT_MODE_PRIMARY', subagent: 'AGENT_MODE_SUBAGENT' } as const;

/** As the API names a permission mode. */
export function permissionMode(word: string): WantedAgent['taskPermissionMode'] {
  const name = word === 'rules' ? 'UNSPECIFIED' : word.toUpperCase();
  return `TASK_PERMISSION_MODE_${name}` as WantedAgent['taskPermissionMode'];
}

/** An agent out of JSON or YAML. Errors: invalid_argument naming the file. */
export function fromText(text: string, file: string): WantedAgent {
  const fields = Object.entries(objectIn(text, file)).map(
    ([name, value]) => [camelCase(name), value] as const,
  );
  const wanted = Object.fromEntries(fields.filter(([name]) => !NOT_WRITTEN.has(name)));
  const { taskPermissionMode: word, tools, ...same } = wanted;
  return {
    ...same,
    ...(word === undefined ? {} : { taskPermissionMode: word === 'rules' ? permissionMode('rules') : word }),
    // An empty list alone changes nothing.
    ...(Array.isArray(tools) && tools.length === 0 ? { clearTools: true } : { tools }),
  } as WantedAgent;
}

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** An agent out of a file. Errors: invalid_argument. */
export async function fromFile(file: string): Promise<WantedAgent> {
  return fromText(await readFileOrStdin(file), file);
}

/** The object in a text that is JSON or YAML. Errors: invalid_argument naming `file`. */
export function objectIn(text: string, file: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    const [line] = error instanceof Error ? error.message.split('\n') : [];
    throw invalid({ field: file, description: `is neither JSON nor YAML: ${line}` });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid({ field: file, description: 'must hold an object' });
  return value as Record<string, unknown>;
}
