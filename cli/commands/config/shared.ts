import type { Command } from 'commander';
import { invalid } from '../../../src/errors/app-error.ts';
import { durationText } from '../../../src/kit/duration.ts';
import { maskKey } from '../../../src/kit/redact.ts';
import type { Resolved, Setting } from '../../instance/load.ts';

/** Options of all `svc config` commands. */
export interface ConfigOptions {
  dataDir?: string;
  config?: string;
}

/** Declares which instance is meant. */
export function withInstance(command: Command): Command {
  return command
    .option('--data-dir <dir>', 'Data directory of the instance (SVC_DATA_DIR, else ~/.svc)')
    .option('--config <file>', 'Its svc.yaml, when that is not in the data directory');
}

/** A value as text; what is secret is masked. */
export function settingText(setting: Setting, value: unknown): string {
  if (setting.secret) return maskedText(value);
  if (setting.type === 'duration') return typeof value === 'number' ? durationText(value) : String(value);
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Where a value came from: `file (/home/me/.svc/svc.yaml)`. */
export function originText({ origin, detail }: Resolved): string {
  return detail && origin !== 'flag' && origin !== 'database' ? `${origin} (${detail})` : origin;
}

/** The setting of a key. Errors: invalid_argument naming the key. */
export function settingOf(settings: Readonly<Record<string, Setting>>, key: string): Setting {
  const setting = Object.hasOwn(settings, key) ? settings[key] : undefined;
  if (!setting) throw invalid({ field: key, description: 'no such setting; list them: svc config list' });
  return setting;
}

function maskedText(value: unknown): string {
  if (typeof value === 'string') return value && maskKey(value);
  const names = Object.keys((value ?? {}) as object);
  return names.map((name) => `${name}=****`).join(',');
}
