import { type Fields, fields, int32, oneOf, stringMap, t, type Value } from '../../../../src/api/schema.ts';
import { AppError, type FieldViolation, invalid } from '../../../../src/errors/app-error.ts';
import { nearest } from '../../../../src/kit/nearest.ts';
import { HOUR_MS, SECOND_MS } from '../../../../src/kit/time.ts';
import { normalize } from '../../../http/normalize.ts';
import { validator } from '../../../http/validate.ts';
import type { AgentConfig, ApprovalSettings, SandboxSettings, SpawnSettings } from './agent.ts';

const MOST_CHARACTERS = 256 * 1024;
const MOST_DEPTH = 32;
const MOST_APPROVAL_SECONDS = 30 * 24 * 60 * 60;

const name = (most: number) => t.String({ minLength: 1, maxLength: most });
const names = (most: number, longest = 128) => t.Array(name(longest), { maxItems: most });
const positive = () => int32({ minimum: 1 });

/** What svc reads of the free-form `config`. Every key may be there in camelCase or in snake_case. */
const CONFIG = fields({
  lifecycle: oneOf('EPHEMERAL', 'PERSISTENT'),
  soulMd: t.String(),
  identityMd: t.String(),
  userMd: t.String(),
  roleMd: t.String(),
  temperature: t.Number({ minimum: 0, maximum: 2 }),
  topP: t.Number({ minimum: 0, maximum: 1 }),
  maxTokens: positive(),
  reasoningEffort: t.String({ pattern: '^[a-z]{1,32}$' }),
  fallback: fields({ models: names(16, 256) }),
  fallbackModels: names(16, 256),
  approval: fields({
    tools: names(256, 256),
    matchMode: oneOf('exact', 'prefix', 'glob'),
    timeoutSeconds: int32({ minimum: 1, maximum: MOST_APPROVAL_SECONDS }),
    defaultAction: oneOf('approve', 'deny'),
  }),
  sandbox: fields({
    image: name(512),
    template: name(128),
    cpuLimit: t.Number({ exclusiveMinimum: 0 }),
    memoryMb: positive(),
    diskMb: positive(),
    timeoutSeconds: positive(),
    networkMode: oneOf('allow', 'whitelist', 'deny'),
    envVars: stringMap(),
  }),
  spawn: fields({
    agents: names(256),
    async: t.Boolean(),
    maxConcurrentJobs: int32({ minimum: 1, maximum: 64 }),
    maxDepth: int32({ minimum: 0, maximum: 16 }),
    maxNodes: int32({ minimum: 0, maximum: 1_024 }),
    maxTokens: int32({ minimum: 0 }),
  }),
  monitor: fields({
    enabled: t.Boolean(),
    model: t.String({ maxLength: 256 }),
    contextTokens: int32({ minimum: 0 }),
  }),
});

type Read = Value<typeof CONFIG>;
type Json = Readonly<Record<string, unknown>>;

const check = validator(CONFIG, 'native');

/** The values of these words are taken in any case. */
const WORDS = [
  ['lifecycle', 'toUpperCase'],
  ['approval.matchMode', 'toLowerCase'],
  ['approval.defaultAction', 'toLowerCase'],
  ['sandbox.networkMode', 'toLowerCase'],
] as const;

/**
 * What svc reads of a `config`, defaults filled in. Keys that it does not know are the owner's own and pass. Errors:
 * invalid_argument naming the field, such as `config.approval.timeoutSeconds`.
 */
export function readConfig(config: Json): AgentConfig {
  refuseLarge(config);
  const read = checked(inOneCase(known(CONFIG, config, 'config')));
  return {
    lifecycle: read.lifecycle === 'PERSISTENT' ? 'persistent' : 'ephemeral',
    identity: [read.soulMd, read.identityMd, read.userMd, read.roleMd].filter((text) =>
      text?.trim(),
    ) as string[],
    model: given(read, 'temperature', 'topP', 'maxTokens', 'reasoningEffort'),
    fallbackModels: fallbackOf(read),
    approval: approvalOf(read.approval),
    sandbox: sandboxOf(read.sandbox),
    spawn: spawnOf(read.spawn),
    compaction: {
      enabled: read.monitor?.enabled ?? false,
      model: read.monitor?.model ?? '',
      contextTokens: read.monitor?.contextTokens ?? 0,
    },
  };
}

/** Keys that svc does not read and that look like one that it does, as sentences for the owner. */
export function misspelt(config: Json, shape: Fields = CONFIG, path = 'config'): string[] {
  return Object.entries(config).flatMap(([key, value]) => {
    const camel = camelCase(key);
    const inner: unknown = shape.properties[camel];
    if (inner === undefined) {
      const [near] = nearest(camel, Object.keys(shape.properties), 1);
      return near ? [`${path}.${key} is not read by svc. Is ${path}.${near} meant?`] : [];
    }
    return isShape(inner) && isObject(value) ? misspelt(value, inner, `${path}.${camel}`) : [];
  });
}

/** The known keys of a config, by their names in camelCase. Errors: invalid_argument when one is there in both spellings. */
function known(shape: Fields, config: Json, path: string): Json {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(config)) {
    const camel = camelCase(key);
    if (!Object.hasOwn(shape.properties, camel)) continue;
    const inner: unknown = shape.properties[camel];
    const field = `${path}.${camel}`;
    if (Object.hasOwn(result, camel)) throw invalid({ field, description: `is there twice, also as ${key}` });
    result[camel] = isShape(inner) && isObject(value) ? known(inner, value, field) : value;
  }
  return result;
}

function inOneCase(config: Json): Json {
  const copy = structuredClone(config) as Record<string, unknown>;
  for (const [path, change] of WORDS) {
    const [first = '', second] = path.split('.');
    const inner = second === undefined ? copy : copy[first];
    const key = second ?? first;
    if (isObject(inner) && typeof inner[key] === 'string')
      (inner as Record<string, unknown>)[key] = inner[key][change]();
  }
  return copy;
}

function checked(config: Json): Read {
  try {
    const read = check.check(normalize(CONFIG, config, 'native', [])) as Read;
    const [first, ...others] = environmentViolations(read.sandbox?.envVars ?? {});
    if (first) throw invalid(first, ...others);
    return read;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const [first, ...others] = error.violations.map(({ field, description }) => ({
      field: `config.${field}`,
      description,
    }));
    throw first ? invalid(first, ...others) : error;
  }
}

function environmentViolations(env: Readonly<Record<string, string>>): FieldViolation[] {
  const wrong = Object.entries(env).filter(
    ([key, value]) => !/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(key) || value.includes('\0'),
  );
  return wrong.map(([key]) => ({
    field: `sandbox.envVars.${key.slice(0, 128)}`,
    description: 'must be the name of a variable, and its value text without zero bytes',
  }));
}

function fallbackOf({ fallback, fallbackModels }: Read): string[] {
  if (fallback?.models && fallbackModels && String(fallback.models) !== String(fallbackModels))
    throw invalid({
      field: 'config.fallbackModels',
      description: 'says something else than config.fallback.models: send one of them',
    });
  return fallbackModels ?? fallback?.models ?? [];
}

function approvalOf(read: Read['approval'] = {}): ApprovalSettings {
  return {
    tools: read.tools ?? [],
    matchMode: read.matchMode ?? 'glob',
    timeoutMs: read.timeoutSeconds === undefined ? HOUR_MS : read.timeoutSeconds * SECOND_MS,
    defaultAction: read.defaultAction ?? 'deny',
  };
}

function sandboxOf({ envVars, ...read }: NonNullable<Read['sandbox']> = {}): SandboxSettings {
  return { ...read, ...(envVars ? { env: envVars } : {}) };
}

function spawnOf(read: Read['spawn'] = {}): SpawnSettings {
  return {
    agents: read.agents ?? [],
    async: read.async ?? false,
    maxConcurrentJobs: read.maxConcurrentJobs ?? 4,
    maxDepth: read.maxDepth ?? 3,
    maxNodes: read.maxNodes ?? 32,
    maxTokens: read.maxTokens ?? 0,
  };
}

function refuseLarge(config: Json): void {
  if (!isWithinDepth(config, MOST_DEPTH))
    throw invalid({ field: 'config', description: `must be at most ${MOST_DEPTH} levels deep` });
  if (JSON.stringify(config).length > MOST_CHARACTERS)
    throw invalid({ field: 'config', description: `must be at most ${MOST_CHARACTERS} characters of JSON` });
}

function isWithinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isWithinDepth(inner, depth - 1));
}

function given<T extends object, K extends keyof T>(from: T, ...keys: readonly K[]): Partial<Pick<T, K>> {
  const said = keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]);
  return Object.fromEntries(said) as Partial<Pick<T, K>>;
}

const camelCase = (key: string) => key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function isShape(schema: unknown): schema is Fields {
  return isObject(schema) && schema.type === 'object' && isObject(schema.properties);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
