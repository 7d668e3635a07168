import { join } from 'node:path';
import { configDir, type Env } from '../context/paths.ts';
import { readText, writePrivate } from '../context/private-file.ts';

/** Where the host keys of instances are kept, apart from the ones that a person has come to trust by hand. */
export function knownHostsPath(env: Env): string {
  return join(configDir(env), 'ssh', 'known_hosts');
}

/** Remembers the host key that an instance has told over its API, in place of what was known for that address. */
export function rememberHostKey(env: Env, host: string, port: number, hostKey: string): string {
  const path = knownHostsPath(env);
  const name = hostPattern(host, port);
  const before = readText(path) ?? '';
  const others = before.split('\n').filter((line) => line !== '' && line.split(' ')[0] !== name);
  const text = `${[...others, `${name} ${hostKey}`].join('\n')}\n`;
  if (text !== before) writePrivate(path, text);
  return path;
}

/** How known_hosts names an address. */
export function hostPattern(host: string, port: number): string {
  return port === 22 ? host : `[${host}]:${port}`;
}
