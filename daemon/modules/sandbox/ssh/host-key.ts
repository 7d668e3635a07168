import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fingerprintOf } from './public-key.ts';

/** The key by which an instance is known to SSH clients. */
export interface HostKey {
  /** In the format of OpenSSH. */
  readonly privateKey: string;
  /** `ssh-ed25519 AAAA...`, as it stands in known_hosts. */
  readonly publicLine: string;
  readonly fingerprint: string;
}

const FILE = 'ssh_host_ed25519_key';
/** Making a key fails in about one of 200 cases; ten in a row do not. */
const ATTEMPTS = 10;

/**
 * The host key of a data directory, made at the first start. It is there whole or not at all: clients remember it.
 * Errors: when the file is there and is not a key, it is left alone and the reason is thrown.
 */
export async function loadHostKey(dataDir: string): Promise<HostKey> {
  const path = join(dataDir, FILE);
  const { utils } = await import('ssh2');
  const parse = (text: string) => {
    const key = utils.parseKey(text);
    return key instanceof Error || !key.isPrivateKey() ? undefined : key;
  };
  const make = (attempt = 1): string => {
    const text = utils.generateKeyPairSync('ed25519').private;
    if (parse(text)) return text;
    if (attempt === ATTEMPTS) throw new Error('no SSH host key could be made');
    return make(attempt + 1);
  };
  const privateKey = read(path) ?? write(path, make());
  const key = parse(privateKey);
  if (!key) throw new Error(`${path} is not a private key`);
  chmodSync(path, 0o600);
  const blob = key.getPublicSSH();
  return {
    privateKey,
    publicLine: `${key.type} ${blob.toString('base64')}`,
    fingerprint: fingerprintOf(blob),
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes beside the place and links it there, so that a crash leaves no half of a key. */
function write(path: string, text: string): string {
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  const file = openSync(temporary, 'wx', 0o600);
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
  linkSync(temporary, path);
  rmSync(temporary);
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
  return text;
}
