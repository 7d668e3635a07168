/** An image in a registry. */
export interface RegistryReference {
  /** Host and port, as in the reference: `registry.example:5000`. */
  readonly registry: string;
  readonly repository: string;
  /** A tag, or a digest `sha256:...`, which wins. */
  readonly target: string;
}

const DOCKER_HUB = 'docker.io';
const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** The distribution specification's forms of names and tags. */
const REPOSITORY = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const HOST = /^([A-Za-z0-9]+([.-]+[A-Za-z0-9]+)*|\[[0-9A-Fa-f:]+\])(:\d{1,5})?$/;

/** Reads `name`, `registry/name:tag` or `registry:port/name@sha256:...`; undefined when it is no reference. */
export function parseReference(text: string): RegistryReference | undefined {
  const [named = '', digest, ...more] = text.split('@');
  if (more.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return undefined;
  const slash = named.indexOf('/');
  const first = named.slice(0, Math.max(0, slash));
  const isHost = first.includes('.') || first.includes(':') || first === 'localhost';
  const registry = isHost ? first : DOCKER_HUB;
  const rest = isHost ? named.slice(slash + 1) : named;
  const colon = rest.lastIndexOf(':');
  const tag = colon > rest.lastIndexOf('/') ? rest.slice(colon + 1) : undefined;
  const path = tag === undefined ? rest : rest.slice(0, colon);
  const repository = registry === DOCKER_HUB && !path.includes('/') ? `library/${path}` : path;
  if (!REPOSITORY.test(repository) || repository.length > 255 || !isPlainHost(registry)) return undefined;
  if (tag !== undefined && !TAG.test(tag)) return undefined;
  return { registry, repository, target: digest ?? tag ?? 'latest' };
}

/** Whether a host means what it says: not `0x7f.1`, which a URL would read as 127.0.0.1. */
function isPlainHost(registry: string): boolean {
  return (
    HOST.test(registry) &&
    URL.parse(`https://${registry}`)?.host === registry.toLowerCase().replace(/:443$/, '')
  );
}

/** Where the API of a registry is. Only one on this machine is spoken to without TLS. */
export function registryUrl(registry: string): string {
  if (registry === DOCKER_HUB) return 'https://registry-1.docker.io';
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(registry);
  return `${isLocal ? 'http' : 'https'}://${registry}`;
}
