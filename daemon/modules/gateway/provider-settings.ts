import { invalid } from '../../../src/errors/app-error.ts';
import type { Config } from '../../config/config.ts';

/** An upstream that speaks the chat-completions dialect, as the configuration has it. */
export interface ProviderSettings {
  readonly name: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Empty when the upstream needs none. */
  readonly apiKey: string;
  /** The models that it offers; asked of the upstream when absent. */
  readonly models?: readonly string[];
}

type Entry = Readonly<Record<string, unknown>>;

const FIELDS = ['base_url', 'api_key', 'models'];
const OWN_NAME = 'local';

/**
 * The upstreams of the configuration: `providers`, and `openai` from OPENAI_API_KEY or OPENAI_BASE_URL.
 * Errors: invalid_argument naming the setting.
 */
export function readProviders(config: Config): ProviderSettings[] {
  const entries = new Map(Object.entries(config.get('providers')));
  const openai = openaiEntry(config, entries.get('openai'));
  if (openai) entries.set('openai', openai);
  return [...entries].map(([name, entry]) => readProvider(name, entry));
}

function openaiEntry(config: Config, given: unknown): Entry | undefined {
  const key = config.get('providers.openai.api_key');
  const base = config.resolve('providers.openai.base_url');
  if (key === '' && base.origin === 'default' && given === undefined) return undefined;
  const entry = given === undefined ? {} : mapping('openai', given);
  return {
    ...entry,
    ...(key === '' ? {} : { api_key: key }),
    base_url: base.origin === 'default' ? (entry.base_url ?? base.value) : base.value,
  };
}

function readProvider(name: string, given: unknown): ProviderSettings {
  const entry = mapping(name, given);
  const unknown = Object.keys(entry).find((field) => !FIELDS.includes(field));
  if (unknown) throw wrong(name, unknown, `there is no such field; the fields are ${FIELDS.join(', ')}`);
  const { api_key: apiKey = '', models } = entry;
  if (typeof apiKey !== 'string') throw wrong(name, 'api_key', 'must be text');
  if (models !== undefined && !isTextList(models)) throw wrong(name, 'models', 'must be a list of names');
  return { name, baseUrl: readBaseUrl(name, entry.base_url), apiKey, models };
}

function mapping(name: string, given: unknown): Entry {
  const field = `providers.${name}`;
  if (name === OWN_NAME)
    throw invalid({ field, description: 'this name belongs to the provider of local/echo' });
  if (!/^[a-z0-9][a-z0-9_.-]*$/.test(name))
    throw invalid({
      field,
      description: 'a name has lower-case letters, digits, dots, dashes and underscores',
    });
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid({ field, description: `must be a mapping with ${FIELDS.join(', ')}` });
  return given as Entry;
}

function readBaseUrl(name: string, given: unknown): string {
  const url = typeof given === 'string' ? URL.parse(given) : null;
  if (!url || !/^https?:$/.test(url.protocol))
    throw wrong(name, 'base_url', 'must be an http or https address');
  if (url.username || url.password)
    throw wrong(name, 'base_url', 'must not contain credentials; use api_key');
  if (url.search || url.hash) throw wrong(name, 'base_url', 'must not contain a query or a fragment');
  return url.href.replace(/\/+$/, '');
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '');
}

function wrong(name: string, field: string, description: string) {
  return invalid({ field: `providers.${name}.${field}`, description });
}
