import { type Endpoint, fillPath } from '../api/endpoint.ts';
import { invalid } from '../errors/app-error.ts';

type Values = Readonly<Record<string, unknown>>;

/** The parts of an input, without their types. */
export interface PlainInput {
  readonly params?: Values;
  readonly query?: Values;
  readonly body?: unknown;
}

/** The base address without its trailing slashes. Errors: invalid_argument naming `url`. */
export function baseUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw invalid({
      field: 'url',
      description: `must be an http or https address, not ${JSON.stringify(url)}`,
    });
  }
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '');
}

/** The path and query of an operation, filled in. */
export function pathOf(endpoint: Endpoint, input: PlainInput): string {
  const search = queryText(input.query);
  return fillPath(endpoint.path, input.params) + (search && `?${search}`);
}

/** A query as text: lists repeat their name, absent values are left out. */
export function queryText(query: Values = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) search.append(name, plainText(item));
    }
  }
  return search.toString();
}

/** What proves who calls. */
export interface Credential {
  readonly apiKey?: string;
  /** A session as `name=value` of its cookie, where no browser adds it. */
  readonly cookie?: string;
}

/**
 * The credential as each surface takes it: a bearer token under /compat/v1, a header of our own elsewhere.
 * A session counts only for requests that come from the daemon's own origin, so it travels with it.
 */
export function credentialHeaders(
  url: string,
  path: string,
  { apiKey, cookie }: Credential,
): Record<string, string> {
  if (!apiKey) return cookie ? { cookie, origin: new URL(url).origin } : {};
  return path.startsWith('/compat/') ? { authorization: `Bearer ${apiKey}` } : { 'x-svc-api-key': apiKey };
}

function plainText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
