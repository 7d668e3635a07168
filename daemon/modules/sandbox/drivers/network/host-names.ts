import type { NetworkPolicy } from '../driver.ts';

/** Names that stand for several. */
export const PRESETS: Readonly<Record<string, readonly string[]>> = {
  '@registries': [
    'registry.npmjs.org',
    'registry.yarnpkg.com',
    'jsr.io',
    'npm.jsr.io',
    'pypi.org',
    'files.pythonhosted.org',
    'crates.io',
    'index.crates.io',
    'static.crates.io',
    'proxy.golang.org',
    'sum.golang.org',
    'rubygems.org',
    'index.rubygems.org',
    'repo.maven.apache.org',
    'repo1.maven.org',
    'repo.packagist.org',
    'deb.debian.org',
    'security.debian.org',
    'archive.ubuntu.com',
    'security.ubuntu.com',
    'ports.ubuntu.com',
    'dl-cdn.alpinelinux.org',
  ],
};

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const NAME = new RegExp(`^(?:${LABEL}\\.)+${LABEL}$`);
const LONGEST = 253;

/**
 * Reads an entry of `allowHosts`: a name with a dot, `*.` and such a name, or a preset, in any case.
 * Undefined when it is none; an address is none, as it belongs in `allowCidrs`.
 */
export function parseHost(text: string): string | undefined {
  const host = text.toLowerCase().replace(/\.$/, '');
  if (Object.hasOwn(PRESETS, host)) return host;
  const name = host.startsWith('*.') ? host.slice(2) : host;
  const isName = NAME.test(name) && name.length <= LONGEST && !/\.\d+$/.test(name);
  return isName && !isLocalName(name) ? host : undefined;
}

/** Whether a name is this machine itself, for whoever asks (RFC 6761, 6.3). */
export function isLocalName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

/** Whether a box may look a name up. @param name in lower case, without a dot at its end */
export function allowsName({ mode, allowHosts }: NetworkPolicy, name: string): boolean {
  if (mode !== 'whitelist') return mode === 'allow';
  return allowHosts.flatMap((host) => PRESETS[host] ?? [host]).some((host) => matches(host, name));
}

function matches(host: string, name: string): boolean {
  return host.startsWith('*.') ? name.endsWith(host.slice(1)) : name === host;
}
