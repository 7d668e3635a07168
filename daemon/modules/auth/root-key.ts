import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { invalid } from '../../../src/errors/app-error.ts';
import { newSecret } from '../../../src/kit/id.ts';
import type { Config } from '../../config/config.ts';

const SETTING = 'auth.root_api_key';
const MIN_LENGTH = 16;
const MAX_LENGTH = 512;

/**
 * The admin key of a first start: the one that the operator set, else the one in `<data-dir>/root.key`,
 * which is made (0600) when it is missing. Errors: invalid_argument when the one that was set is too short.
 */
export function firstRootKey(config: Config): string {
  const given = config.get(SETTING);
  if (given) return checkGiven(given);
  const path = rootKeyPath(config);
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  const key = newKey();
  writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx' });
  return key;
}

/** Puts a new root key in the place of the kept one; does nothing when the operator keeps the key. */
export function replaceKeptRootKey(config: Config, key: string): void {
  const path = rootKeyPath(config);
  if (!existsSync(path)) return;
  writeFileSync(`${path}.new`, `${key}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** A new API key: `s_` and 256 random bits. */
export function newKey(): string {
  return `s_${newSecret()}`;
}

function rootKeyPath(config: Config): string {
  return join(config.dataDir, 'root.key');
}

function checkGiven(key: string): string {
  if (key.length < MIN_LENGTH || key.length > MAX_LENGTH || /\s/.test(key)) {
    const description = `must have ${MIN_LENGTH} to ${MAX_LENGTH} characters and no spaces`;
    throw invalid({ field: SETTING, description });
  }
  return key;
}
