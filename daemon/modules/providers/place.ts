import { invalid } from '../../../src/errors/app-error.ts';
import { editDistance, nearest } from '../../../src/kit/nearest.ts';
import type { Dialect } from './account.ts';
import { CATALOG, catalogEntry } from './catalog/catalog.ts';
import { DIALECT_SETTINGS, ruleOf } from './catalog/dialect-settings.ts';

/** Where a provider is and how it is spoken to. */
export interface Place {
  readonly dialect: Dialect;
  /** As account.ts has it. */
  readonly baseUrl: string;
  /** With the defaults of those that were not given. */
  readonly settings: Readonly<Record<string, string>>;
  /** The catalog's own address answers nobody without a key. */
  readonly needsKey: boolean;
}

/** What somebody said of a provider. */
export interface PlaceInput {
  readonly name: string;
  /** Only of names that the catalog does not have; `openai` when empty. */
  readonly dialect: string;
  /** The catalog's when empty. */
  readonly baseUrl: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** How the fields are called where the input came from. */
export interface PlaceFields {
  readonly dialect: string;
  readonly baseUrl: string;
  readonly settings: string;
}

const DIALECTS = Object.keys(DIALECT_SETTINGS).filter((dialect) => dialect !== 'local');
const MOST_URL_CHARS = 2048;
const MOST_SETTINGS = 200;

/** Checks what was said, and fills in what the catalog knows. Errors: invalid_argument naming the field. */
export function resolvePlace(input: PlaceInput, fields: PlaceFields): Place {
  const dialect = dialectOf(input, fields.dialect);
  const settings = settingsOf(dialect, input.settings, fields.settings);
  if (input.baseUrl !== '')
    return {
      dialect,
      settings,
      baseUrl: givenUrl(input, dialect, settings, fields.baseUrl),
      needsKey: false,
    };
  const entry = catalogEntry(input.name) ?? lender(dialect);
  if (!entry?.baseUrl) throw invalid({ field: fields.baseUrl, description: noAddress(input.name) });
  return { dialect, settings, baseUrl: fill(entry.baseUrl, settings), needsKey: entry.needsKey };
}

/** Reads an address. Errors: invalid_argument naming the field; a credential in it is not repeated. */
export function readBaseUrl(text: string, field: string): URL {
  const url = text.length <= MOST_URL_CHARS ? URL.parse(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw invalid({ field, description: 'must be an http or https address' });
  if (url.username || url.password)
    throw invalid({ field, description: 'must not contain credentials; they belong into a key' });
  if (url.search || url.hash) throw invalid({ field, description: 'must not contain a query or a fragment' });
  return url;
}

function dialectOf({ name, dialect }: PlaceInput, field: string): Dialect {
  const entry = catalogEntry(name);
  if (entry) {
    if (dialect === '' || dialect === entry.dialect) return entry.dialect;
    throw invalid({ field, description: `cannot be changed: ${name} speaks ${entry.dialect}` });
  }
  const named = dialect || 'openai';
  if (!DIALECTS.includes(named))
    throw invalid({ field, description: `must be one of ${DIALECTS.join(', ')}` });
  return named as Dialect;
}

function settingsOf(
  dialect: Dialect,
  given: Readonly<Record<string, string>>,
  field: string,
): Record<string, string> {
  if (Object.keys(given).length > MOST_SETTINGS)
    throw invalid({ field, description: `must be at most ${MOST_SETTINGS}` });
  for (const [name, value] of Object.entries(given)) checkSetting(dialect, name, value, `${field}.${name}`);
  const settings: Record<string, string> = { ...given };
  for (const [name, rule] of Object.entries(DIALECT_SETTINGS[dialect])) {
    if (rule.default !== undefined) settings[name] ??= rule.default;
    if (rule.isRequired && settings[name] === undefined)
      throw invalid({ field: `${field}.${name}`, description: `is needed: ${rule.about.toLowerCase()}` });
  }
  return settings;
}

function checkSetting(dialect: Dialect, name: string, value: string, field: string): void {
  const rule = ruleOf(dialect, name);
  const known = Object.keys(DIALECT_SETTINGS[dialect]).join(', ') || 'none';
  if (!rule)
    throw invalid({ field, description: `is no setting of the dialect ${dialect}, which has: ${known}` });
  if (!rule.pattern.test(value)) throw invalid({ field, description: `must be ${rule.shape}` });
}

function noAddress(name: string): string {
  const names = CATALOG.map((entry) => entry.name);
  const [near] = catalogEntry(name) ? [] : nearest(name, names, 1);
  const isLikely = near !== undefined && editDistance(name, near) <= name.length / 3;
  return `is needed: the catalog has no address for it${isLikely ? `; did you mean ${near}?` : ''}`;
}

/** The address of a maker serves other names of its dialect too: `bedrock-eu` is where `bedrock` is. */
function lender(dialect: Dialect) {
  return dialect === 'openai' ? undefined : CATALOG.find((entry) => entry.dialect === dialect);
}

function fill(template: string, settings: Readonly<Record<string, string>>): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => settings[name] ?? '');
  return filled.replace('https://global-aiplatform.', 'https://aiplatform.');
}

/** Completes what people leave out of addresses, and takes out what the dialect's paths begin with. */
function givenUrl(
  { name, baseUrl }: PlaceInput,
  dialect: Dialect,
  settings: Readonly<Record<string, string>>,
  field: string,
): string {
  const url = readBaseUrl(baseUrl, field);
  const bare = url.href.replace(/\/+$/, '');
  const hasPath = url.pathname.replaceAll('/', '') !== '';
  if (dialect === 'azure' && !hasPath) return `${bare}/openai${settings.api_version ? '' : '/v1'}`;
  if (dialect === 'anthropic' || dialect === 'cohere') return bare.replace(/\/v[12]$/, '');
  if (!hasPath && (name === 'ollama' || name === 'vllm')) return `${bare}/v1`;
  return bare;
}
