import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ImageFetch } from './fetch.ts';
import { unusable } from './image.ts';
import { type Descriptor, MANIFEST_TYPES } from './manifest.ts';
import { type RegistryReference, registryUrl } from './reference.ts';

/** Name and password for a registry. */
export type RegistryLogin = (
  registry: string,
) => { readonly username: string; readonly password: string } | undefined;

/** A document of a registry with its digest. */
export interface Document {
  readonly digest: string;
  readonly body: unknown;
}

const MAX_REDIRECTS = 5;
const MAX_DOCUMENT = 4 * 1024 * 1024;
const REDIRECTS = [301, 302, 303, 307, 308];

/**
 * Reads one repository of a registry (OCI distribution-spec, pull). It is anonymous unless a login is given;
 * bearer tokens are got where the registry says. What arrives is believed only when its digest is right.
 */
export class RegistryClient {
  private authorization: string | undefined;
  private readonly base: string;

  constructor(
    private readonly reference: RegistryReference,
    private readonly fetch: ImageFetch,
    private readonly login: RegistryLogin = () => undefined,
    private readonly signal?: AbortSignal,
  ) {
    this.base = `${registryUrl(reference.registry)}/v2/${reference.repository}`;
  }

  /** A manifest or an index, by tag or digest. Errors: UnusableImage. */
  async manifest(target: string): Promise<Document> {
    const response = await this.get(`${this.base}/manifests/${target}`, MANIFEST_TYPES.join(', '));
    const bytes = await readBounded(response, MAX_DOCUMENT);
    const digest = `sha256:${new Bun.CryptoHasher('sha256').update(bytes).digest('hex')}`;
    if (target.startsWith('sha256:') && digest !== target)
      throw unusable('its manifest is not the one that was asked for');
    return { digest, body: parseJson(bytes) };
  }

  /** A small blob as JSON. Errors: UnusableImage. */
  async json({ digest, size }: Descriptor): Promise<unknown> {
    const bytes = await readBounded(await this.get(this.blobUrl(digest)), Math.min(size, MAX_DOCUMENT));
    const got = `sha256:${new Bun.CryptoHasher('sha256').update(bytes).digest('hex')}`;
    if (got !== digest) throw unusable('a part of it has another digest than its name');
    return parseJson(bytes);
  }

  /** Writes a blob into a new file. Nothing of the file may be used when this fails. Errors: UnusableImage, ENOSPC. */
  async download(
    { digest, size }: Descriptor,
    path: string,
    onBytes: (count: number) => void,
  ): Promise<void> {
    const response = await this.get(this.blobUrl(digest));
    const hasher = new Bun.CryptoHasher('sha256');
    let total = 0;
    const checked = async function* () {
      for await (const piece of bodyOf(response)) {
        total += piece.length;
        if (total > size) throw unusable('a part of it is longer than announced');
        hasher.update(piece);
        onBytes(piece.length);
        yield piece;
      }
    };
    await pipeline(Readable.from(checked()), createWriteStream(path, { flags: 'wx', mode: 0o600 }), {
      signal: this.signal,
    });
    if (total !== size) throw unusable('a part of it is shorter than announced');
    if (`sha256:${hasher.digest('hex')}` !== digest)
      throw unusable('a part of it has another digest than its name');
  }

  private blobUrl(digest: string): string {
    return `${this.base}/blobs/${digest}`;
  }

  /** A request with the token that the registry asks for, its redirects followed without the token. */
  private async get(url: string, accept = '*/*'): Promise<Response> {
    let response = await this.request(url, accept);
    if (response.status === 401) {
      this.authorization = await this.authorize(response.headers.get('www-authenticate') ?? '');
      await response.body?.cancel();
      response = await this.request(url, accept);
    }
    if (response.ok) return response;
    await response.body?.cancel();
    throw unusable(describe(response.status, this.reference));
  }

  private async request(url: string, accept: string): Promise<Response> {
    let at = new URL(url);
    const origin = at.origin;
    for (let i = 0; i <= MAX_REDIRECTS; i++) {
      const own: Record<string, string> =
        this.authorization && at.origin === origin ? { authorization: this.authorization } : {};
      const response = await this.send(at, { accept, ...own });
      const location = REDIRECTS.includes(response.status) ? response.headers.get('location') : null;
      if (!location) return response;
      await response.body?.cancel();
      const next = new URL(location, at);
      if (at.protocol === 'https:' && next.protocol !== 'https:')
        throw unusable('its registry leads to an open connection');
      at = next;
    }
    throw unusable('its registry redirects without end');
  }

  /** WWW-Authenticate: a token server to ask (Bearer), or name and password at once (Basic). */
  private async authorize(challenge: string): Promise<string> {
    const scheme = challenge.split(' ')[0]?.toLowerCase();
    const fields = Object.fromEntries(
      [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
    );
    const login = this.login(this.reference.registry);
    const basic = login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
    if (scheme === 'basic' && basic) return basic;
    if (scheme !== 'bearer' || !fields.realm) throw unusable('its registry asks for a login');
    const url = new URL(fields.realm);
    const isOpen = url.protocol !== 'https:' && new URL(this.base).protocol === 'https:';
    if (isOpen) throw unusable('its registry asks for a token over an open connection');
    if (fields.service) url.searchParams.set('service', fields.service);
    url.searchParams.set('scope', fields.scope ?? `repository:${this.reference.repository}:pull`);
    const response = await this.send(url, basic ? { authorization: basic } : {});
    if (!response.ok) throw unusable('its registry refuses to let anybody read it without a login');
    const { token, access_token } = parseJson(await readBounded(response, MAX_DOCUMENT)) as Record<
      string,
      unknown
    >;
    const value = token ?? access_token;
    if (typeof value !== 'string') throw unusable('its registry gives no token');
    return `Bearer ${value}`;
  }

  private async send(url: URL, headers: Record<string, string>): Promise<Response> {
    try {
      return await this.fetch(url.href, { headers, signal: this.signal, redirect: 'manual' });
    } catch (error) {
      this.signal?.throwIfAborted();
      throw unusable(
        `${url.host} cannot be reached (${error instanceof Error ? error.message : String(error)})`,
      );
    }
  }
}

function describe(status: number, { registry, repository, target }: RegistryReference): string {
  if (status === 404) return `${registry} has no ${repository} ${target}`;
  if (status === 401 || status === 403)
    return `${registry} does not let ${repository} be read without a login`;
  if (status === 429) return `${registry} says that there were too many requests`;
  return `${registry} answers with ${status}`;
}

async function readBounded(response: Response, limit: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let total = 0;
  for await (const piece of bodyOf(response)) {
    total += piece.length;
    if (total > limit) throw unusable('a document of it is too long');
    parts.push(piece);
  }
  return Buffer.concat(parts);
}

async function* bodyOf(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw unusable('a document of it is not JSON');
  }
}
