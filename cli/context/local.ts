import { join } from 'node:path';
import { readDaemonRecord } from '../instance/record.ts';
import { dataDir, type Env } from './paths.ts';
import { readText } from './private-file.ts';

const DEFAULT_URL = 'http://127.0.0.1:8089';

/** The instance of this machine: its address, and its admin key when this person may read it. */
export interface LocalInstance {
  readonly url: string;
  readonly apiKey: string | undefined;
}

/** What the data directory tells about the instance of this machine. */
export function localInstance(env: Env, dir: string = dataDir(env)): LocalInstance {
  return { url: readDaemonRecord(dir)?.url ?? DEFAULT_URL, apiKey: env.SVC_ROOT_API_KEY || readRootKey(dir) };
}

/** The admin key that the first start wrote; undefined when there is none or it may not be read. */
export function readRootKey(dir: string): string | undefined {
  try {
    return readText(join(dir, 'root.key'))?.trim() || undefined;
  } catch {
    return undefined;
  }
}
