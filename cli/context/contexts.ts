import { join } from 'node:path';
import type { Credential } from '../../src/client/address.ts';
import { fail, invalid } from '../../src/errors/app-error.ts';
import { configDir, type Env } from './paths.ts';
import { readText, writePrivate } from './private-file.ts';

/** A daemon that this person works with. */
export interface Context {
  readonly name: string;
  readonly apiUrl: string;
}

interface Stored {
  readonly active: string | undefined;
  readonly contexts: ReadonlyMap<string, Context>;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * The contexts of this person: addresses in config.yaml (`active_context`, `contexts`),
 * credentials apart in `credentials`, JSON keyed by context.
 */
export class ContextStore {
  private readonly configPath: string;
  private readonly credentialsPath: string;

  constructor(env: Env) {
    this.configPath = join(configDir(env), 'config.yaml');
    this.credentialsPath = join(configDir(env), 'credentials');
  }

  /** Every context, in the order they were added. */
  list(): Context[] {
    return [...this.read().contexts.values()];
  }

  /** The name of the context that is used when none is named. */
  active(): string | undefined {
    return this.read().active;
  }

  find(name: string): Context | undefined {
    return this.read().contexts.get(name);
  }

  /** Errors: not_found. */
  get(name: string): Context {
    const context = this.find(name);
    if (!context) throw fail('not_found', { what: 'context', id: name });
    return context;
  }

  /** Adds a context or changes its address. The first one becomes active. */
  save(context: Context): void {
    if (!NAME.test(context.name)) {
      throw invalid({ field: 'name', description: 'must be letters, digits, dots, dashes and underscores' });
    }
    const { active, contexts } = this.read();
    this.write({ active: active ?? context.name, contexts: new Map(contexts).set(context.name, context) });
  }

  /** Errors: not_found. */
  use(name: string): void {
    this.get(name);
    this.write({ ...this.read(), active: name });
  }

  /** Forgets a context and its credential. Errors: not_found. */
  remove(name: string): void {
    this.get(name);
    const { active, contexts } = this.read();
    const rest = new Map(contexts);
    rest.delete(name);
    this.forget(name);
    this.write({ active: active === name ? undefined : active, contexts: rest });
  }

  credential(name: string): Credential | undefined {
    const entry = this.readCredentials()[name];
    return entry && { apiKey: entry.api_key, cookie: entry.cookie };
  }

  /** Keeps the credential of a context. */
  remember(name: string, credential: Credential): void {
    const entry = { api_key: credential.apiKey, cookie: credential.cookie };
    this.writeCredentials({ ...this.readCredentials(), [name]: entry });
  }

  /** Forgets the credential of a context. */
  forget(name: string): void {
    const { [name]: gone, ...rest } = this.readCredentials();
    if (gone) this.writeCredentials(rest);
  }

  private read(): Stored {
    const root = asMapping(parseYaml(readText(this.configPath) ?? '', this.configPath));
    const contexts = Object.entries(asMapping(root.contexts)).map(([name, value]) => {
      const apiUrl = asMapping(value).api_url;
      return [name, { name, apiUrl: typeof apiUrl === 'string' ? apiUrl : '' }] as const;
    });
    const active = root.active_context;
    return { active: typeof active === 'string' ? active : undefined, contexts: new Map(contexts) };
  }

  private write({ active, contexts }: Stored): void {
    const byName = Object.fromEntries([...contexts].map(([name, { apiUrl }]) => [name, { api_url: apiUrl }]));
    const root = { ...(active ? { active_context: active } : {}), contexts: byName };
    writePrivate(this.configPath, `${Bun.YAML.stringify(root, null, 2)}\n`);
  }

  private readCredentials(): Record<string, { api_key?: string; cookie?: string }> {
    const text = readText(this.credentialsPath);
    if (text === undefined) return {};
    try {
      return asMapping(JSON.parse(text)) as Record<string, { api_key?: string; cookie?: string }>;
    } catch {
      throw invalid({ field: this.credentialsPath, description: 'is not JSON' });
    }
  }

  private writeCredentials(entries: Record<string, { api_key?: string; cookie?: string }>): void {
    writePrivate(this.credentialsPath, `${JSON.stringify(entries, null, 2)}\n`);
  }
}

function parseYaml(text: string, path: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch {
    throw invalid({ field: path, description: 'is not YAML' });
  }
}

function asMapping(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}
