import { AppError } from '../../../../src/errors/app-error.ts';
import type { Config } from '../../../config/config.ts';
import type { Log } from '../../../log/log.ts';
import { type ProviderBlock, placeFieldsOf, readBlock } from '../block.ts';
import { CATALOG, catalogEntry } from '../catalog/catalog.ts';
import type { CatalogEntry } from '../catalog/entry.ts';
import { checkKeyText } from '../inputs.ts';
import { type Place, resolvePlace } from '../place.ts';
import { type FromEnvironment, readEnvironment } from './environment.ts';
import type { InstanceKey, InstanceProvider } from './instance-provider.ts';

const NOTHING: FromEnvironment = { baseUrl: '', settings: {} };
const OPENAI_URL = 'providers.openai.base_url';

/**
 * The providers of svc.yaml (`providers`) and of the environment, those of svc.yaml first. What the environment says
 * wins. Errors: invalid_argument naming the setting of svc.yaml; what is wrong in the environment is logged, and its
 * provider left out.
 */
export function readInstance(config: Config, log: Log): InstanceProvider[] {
  const blocks = Object.entries(config.get('providers')).map(([name, given]) => readBlock(name, given));
  const configured = blocks.map((block) => fromFile(block, config, log));
  const named = new Set(blocks.map(({ name }) => name));
  const others = CATALOG.filter(({ name }) => !named.has(name));
  return [...configured, ...others.flatMap((entry) => fromEnvironment(entry, config, log) ?? [])];
}

function fromFile(block: ProviderBlock, config: Config, log: Log): InstanceProvider {
  const entry = catalogEntry(block.name);
  const env = entry ? environmentOf(entry, config, log) : NOTHING;
  const { name, dialect } = block;
  const settings = { ...block.settings, ...env.settings };
  const said = { name, dialect, baseUrl: env.baseUrl || block.baseUrl, settings };
  return {
    name,
    origin: 'file',
    place: keyed(resolvePlace(said, placeFieldsOf(name)), block.keys.length > 0),
    said,
    models: block.models,
    keys: env.key ? [environmentKey(env.key)] : fileKeys(block, config, log),
  };
}

/** Who writes a key down does not want calls without it, also when its variable is not set. */
function keyed(place: Place, hasKey: boolean): Place {
  return { ...place, needsKey: place.needsKey || hasKey };
}

function fromEnvironment(entry: CatalogEntry, config: Config, log: Log): InstanceProvider | undefined {
  const { name, dialect } = entry;
  const { key, baseUrl, settings } = environmentOf(entry, config, log);
  if (!key && (baseUrl === '' || dialect !== 'openai')) return undefined;
  try {
    if (key) checkKeyText(key.secret, key.variable);
    const said = { name, dialect: '', baseUrl, settings };
    const place = resolvePlace(said, placeFieldsOf(name));
    return { name, origin: 'environment', place, said, models: [], keys: key ? [environmentKey(key)] : [] };
  } catch (error) {
    const why = error instanceof AppError ? error.message : 'unreadable';
    log.warn('a provider of the environment is left out', { provider: name, why });
    return undefined;
  }
}

/** `openai` has settings of its own too, so that the command line can name its key and address. */
function environmentOf(entry: CatalogEntry, config: Config, log: Log): FromEnvironment {
  const read = withoutItself(readSafely(entry, config, log), entry, config, log);
  if (entry.name !== 'openai') return read;
  const secret = config.resolve('providers.openai.api_key');
  const url = config.resolve(OPENAI_URL);
  const isHere = (origin: string) => origin !== 'default' && origin !== 'file';
  const key =
    isHere(secret.origin) && secret.value !== ''
      ? {
          variable: secret.detail === 'the command line' ? 'command line' : secret.detail,
          secret: String(secret.value),
        }
      : undefined;
  const said = { ...read, baseUrl: isHere(url.origin) ? String(url.value) : '', ...(key ? { key } : {}) };
  return withoutItself(said, entry, config, log);
}

function readSafely(entry: CatalogEntry, config: Config, log: Log): FromEnvironment {
  try {
    return readEnvironment(entry, (name) => config.variable(name));
  } catch (error) {
    log.warn('the credential of a provider cannot be read', { provider: entry.name, error });
    return NOTHING;
  }
}

/** A shell that was set up to call this instance must not make the instance call itself. */
function withoutItself(
  read: FromEnvironment,
  { name }: CatalogEntry,
  config: Config,
  log: Log,
): FromEnvironment {
  const url = URL.parse(read.baseUrl);
  const isLocal = url !== null && /^(localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)$/.test(url.hostname);
  if (!isLocal || url.port !== String(config.get('server.port'))) return read;
  log.warn('a provider of the environment is this instance itself, and is left out', { provider: name });
  return NOTHING;
}

function environmentKey({ variable, secret }: NonNullable<FromEnvironment['key']>): InstanceKey {
  return { id: 'env', name: variable, secret, weight: 1 };
}

function fileKeys({ name: provider, keys }: ProviderBlock, config: Config, log: Log): InstanceKey[] {
  return keys
    .filter(({ isActive }) => isActive)
    .flatMap(({ name, text, weight }, index) => {
      const secret = text.startsWith('env:') ? config.variable(text.slice('env:'.length)) : text;
      if (secret !== undefined) return [{ id: index === 0 ? 'file' : `file.${name}`, name, secret, weight }];
      log.warn('a key of svc.yaml names a variable that is not set', { provider, variable: text.slice(4) });
      return [];
    });
}
