import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * What boxes of the image `host` get from /etc: what programs of /usr need to run, to find their libraries and
 * to check certificates. No accounts, no keys, no configuration of services, nothing that may hold a password.
 * A last word that ends with `*` stands for every name that begins so.
 */
const ALLOWED = [
  'ImageMagick-*',
  'alpine-release',
  'alternatives',
  'arch-release',
  'bash.bashrc',
  'ca-certificates.conf',
  'crypto-policies',
  'debian_version',
  'fedora-release',
  'fonts',
  'gai.conf',
  'host.conf',
  'inputrc',
  'java*',
  'ld-musl-*',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'locale.alias',
  'localtime',
  'lsb-release',
  'magic',
  'mime.types',
  'networks',
  'os-release',
  'perl',
  'pki/ca-trust/extracted',
  'pki/tls/cert.pem',
  'pki/tls/certs',
  'pki/tls/openssl.cnf',
  'protocols',
  'python*',
  'redhat-release',
  'rpc',
  'services',
  'sgml',
  'shells',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'texmf',
  'timezone',
  'xml',
];

const FILE_LIMIT = 16 * 1024 * 1024;
const ENTRY_LIMIT = 20_000;
const READABLE_BY_ALL = 0o004;

/** A file or link of the host that boxes may have a copy of. `path` is relative to /etc. */
export interface HostFile {
  readonly path: string;
  readonly link?: string;
  readonly executable: boolean;
  /** Changes when the file does. */
  readonly stamp: string;
}

/** Lists what boxes may have of a host's /etc, links as links, and only what everybody may read there. */
export async function listHostFiles(etc = '/etc'): Promise<HostFile[]> {
  const found: HostFile[] = [];
  for (const pattern of ALLOWED)
    for (const path of await expand(etc, pattern)) await collect(etc, path, found);
  return found;
}

/** The content of a listed file; undefined when it is a private key, wherever it lies. */
export async function readHostFile(etc: string, file: HostFile): Promise<Uint8Array | undefined> {
  const bytes = await readFile(join(etc, file.path)).catch(() => undefined);
  return bytes?.includes('PRIVATE KEY-----') ? undefined : bytes;
}

async function expand(etc: string, pattern: string): Promise<string[]> {
  if (!pattern.endsWith('*')) return [pattern];
  const names = await readdir(etc).catch(() => []);
  return names.filter((name) => name.startsWith(pattern.slice(0, -1))).sort();
}

async function collect(etc: string, path: string, found: HostFile[]): Promise<void> {
  const stat = await lstat(join(etc, path)).catch(() => undefined);
  if (!stat || found.length >= ENTRY_LIMIT) return;
  const stamp = `${path} ${stat.size} ${stat.mtimeMs}`;
  if (stat.isSymbolicLink()) {
    found.push({ path, link: await readlink(join(etc, path)), executable: false, stamp });
  } else if (stat.isDirectory()) {
    const names = await readdir(join(etc, path)).catch(() => []);
    for (const name of names.sort()) await collect(etc, `${path}/${name}`, found);
  } else if (stat.isFile() && stat.mode & READABLE_BY_ALL && stat.size <= FILE_LIMIT) {
    found.push({ path, executable: (stat.mode & 0o111) !== 0, stamp });
  }
}
