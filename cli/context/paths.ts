import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Environment variables. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Where this person's settings of the CLI are: `$XDG_CONFIG_HOME/svc`, else `~/.config/svc`. */
export function configDir(env: Env): string {
  return join(env.XDG_CONFIG_HOME || join(homeOf(env), '.config'), 'svc');
}

/** The data directory of the instance on this machine: the flag, SVC_DATA_DIR, else `~/.svc`. */
export function dataDir(env: Env, flag?: string): string {
  const dir = flag || env.SVC_DATA_DIR || '~/.svc';
  return resolve(dir.startsWith('~/') ? join(homeOf(env), dir.slice(2)) : dir);
}

function homeOf(env: Env): string {
  return env.HOME || homedir();
}
