import { type Command, InvalidArgumentError } from 'commander';
import { invalid } from '../../../src/errors/app-error.ts';
import { integer, list, word } from '../../args.ts';
import { readFileOrStdin } from '../gateway/config/section.ts';
import { fromFile, MODE_NAMES, objectIn, permissionMode, type WantedAgent } from './document.ts';
import type { ShownAgent } from './shown.ts';

/** What `svc agent create` and `edit` take. */
export interface AgentOptions {
  readonly file?: string;
  readonly model?: string;
  readonly description?: string;
  readonly prompt?: string;
  readonly promptFile?: string;
  readonly tool?: string[];
  readonly mode?: 'primary' | 'subagent';
  readonly permission?: 'rules' | 'ask' | 'always' | 'deny';
  readonly approve?: string[];
  readonly maxTurns?: number;
  readonly maxToolCalls?: number;
  readonly maxSteps?: number;
  readonly cwd?: string;
  readonly alias?: string;
  readonly color?: string;
  readonly memory?: 'agent' | 'user' | 'global' | 'off';
  readonly config?: string;
  readonly set?: Setting[];
}

interface Setting {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Declares the options of an agent. */
export function agentOptions(command: Command): Command {
  return command
    .option('--file <file>', 'JSON or YAML of the whole agent, as get --yaml prints it; - reads stdin')
    .option('--model <model>', 'The model that it asks, as callers of the gateway name it')
    .option('--description <text>', 'What it is for')
    .option('--prompt <text>', 'Its instructions')
    .option('--prompt-file <file>', 'The file with its instructions; - reads stdin')
    .option('--tool <name>', 'A tool that it may call, by its exact name; repeatable', list)
    .option('--mode <mode>', 'primary, or subagent: only other agents start it', word('primary', 'subagent'))
    .option(
      '--permission <mode>',
      'rules, ask (before every change), always or deny (changes nothing)',
      word('rules', 'ask', 'always', 'deny'),
    )
    .option(
      '--approve <pattern>',
      'Tools of which each call waits for a person, such as mcp__*; repeatable',
      list,
    )
    .option('--max-turns <count>', 'Turns of a session; 0: the usual limit', integer(0))
    .option('--max-tool-calls <count>', 'Calls of tools in a turn; 0: the usual limit', integer(0))
    .option('--max-steps <count>', 'Calls of the model in a session; 0: the usual limit', integer(0))
    .option('--cwd <path>', 'Where its commands begin')
    .option('--alias <name>', 'Another name of it, for mentions')
    .option('--color <color>', 'How it is shown, such as #ff8800')
    .option(
      '--memory <scope>',
      'What it remembers: agent, user, global or off',
      word('agent', 'user', 'global', 'off'),
    )
    .option('--config <file>', 'JSON or YAML of its settings, in place of those that it has')
    .option(
      '--set <PATH=VALUE>',
      'One of its settings, such as sandbox.image=python:3.13; repeatable',
      settings,
    );
}

/**
 * The agent that options ask for. Settings and approvals are changed in the ones that `current` has. Errors:
 * invalid_argument naming the option.
 */
export async function readAgent(options: AgentOptions, current: ShownAgent = {}): Promise<WantedAgent> {
  const { prompt, promptFile, tool, permission, memory, maxToolCalls, cwd, alias } = options;
  if (prompt !== undefined && promptFile !== undefined)
    throw invalid({ field: '--prompt', description: 'goes without --prompt-file' });
  const { model, description, mode, maxTurns, maxSteps, color } = options;
  const base = options.file === undefined ? {} : await fromFile(options.file);
  const said: WantedAgent = {
    ...{ model, description, maxTurns, maxSteps, color },
    systemPrompt: promptFile === undefined ? prompt : await readFileOrStdin(promptFile),
    tools: tool?.flatMap((names) => names.split(',')),
    maxToolCallsPerTurn: maxToolCalls,
    workingDirectory: cwd,
    mentionAlias: alias,
    mode: mode && MODE_NAMES[mode],
    ...(permission ? { taskPermissionMode: permissionMode(permission) } : {}),
    ...(memory
      ? { memoryConfig: memory === 'off' ? { enabled: false } : { enabled: true, scope: memory } }
      : {}),
    config: await settingsOf(options, base.config ?? current.config ?? {}),
  };
  return { ...base, ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)) };
}

async function settingsOf(
  { config: file, set = [], approve }: AgentOptions,
  before: Record<string, unknown>,
): Promise<Record<string, unknown> | undefined> {
  if (file === undefined && set.length === 0 && approve === undefined) return undefined;
  const config = file === undefined ? structuredClone(before) : objectIn(await readFileOrStdin(file), file);
  const rules: Setting[] = approve ? [{ path: ['approval', 'tools'], value: approve }] : [];
  for (const { path, value } of [...rules, ...set]) put(config, path, value);
  return config;
}

function put(config: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const last = path.at(-1) ?? '';
  let inner = config;
  for (const name of path.slice(0, -1)) {
    const next: unknown = Object.hasOwn(inner, name) ? inner[name] : undefined;
    const held = typeof next === 'object' && next !== null ? (next as Record<string, unknown>) : {};
    define(inner, name, held);
    inner = held;
  }
  define(inner, last, value);
}

/** Sets a field of any name, also `__proto__`. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Collects `PATH=VALUE`; a value that is JSON is read as such, anything else is text. */
function settings(text: string, earlier: readonly Setting[] = []): Setting[] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must have the form PATH=VALUE.');
  const value = text.slice(at + 1);
  const path = text.slice(0, at).split('.');
  try {
    return [...earlier, { path, value: JSON.parse(value) as unknown }];
  } catch {
    return [...earlier, { path, value }];
  }
}
