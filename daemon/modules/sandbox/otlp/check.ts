import type { FieldViolation } from '../../../../src/errors/app-error.ts';

const MAX_ENTRIES = 32;
const MAX_ENDPOINT = 2_048;
const MAX_HEADER_VALUE = 4_096;
const MAX_LABEL_VALUE = 256;

/** A field name of HTTP (RFC 9110, 5.6.2). */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
/** A field value of HTTP that travels everywhere: visible ASCII with blanks between. */
const VALUE = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/;
/** Headers that belong to the connection or to the message that is sent. */
const OWN = /^(host|connection|content-.*|transfer-encoding|upgrade|keep-alive|te|trailer|expect|proxy-.*)$/i;

const LABEL = /^[A-Za-z_][A-Za-z0-9_./-]{0,127}$/;
/** Attributes that tell sandboxes and tenants apart: a label must not lie about them. */
const RESERVED = /^(svc\.|container\.|service\.instance\.)/;

/** What is wrong with an endpoint. An empty one says that there is none. */
export function* checkEndpoint(endpoint: string): Iterable<FieldViolation> {
  const wrong = (description: string) => ({ field: 'endpoint', description });
  if (endpoint === '') return;
  if (endpoint.length > MAX_ENDPOINT) return yield wrong(`must be at most ${MAX_ENDPOINT} characters`);
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return yield wrong('must be an http or https address');
  if (url.username || url.password)
    yield wrong('must not hold a user name or password; send them as a header');
  if (url.search || url.hash || /[?#]/.test(endpoint)) yield wrong('must not have a query or a fragment');
  if (/\/v1\/(metrics|traces|logs)\/*$/.test(url.pathname))
    yield wrong('must be the base address: /v1/metrics and /v1/traces are added to it');
}

/** What is wrong with headers. */
export function* checkHeaders(headers: Readonly<Record<string, string>>): Iterable<FieldViolation> {
  const names = Object.keys(headers);
  if (names.length > MAX_ENTRIES) yield { field: 'headers', description: `must be at most ${MAX_ENTRIES}` };
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const wrong = (description: string) => ({ field: `headers.${name}`, description });
    if (!TOKEN.test(name)) yield wrong('is not a name of an HTTP header');
    else if (OWN.test(name)) yield wrong('is set by svc itself');
    else if (seen.has(name.toLowerCase())) yield wrong('is there twice');
    else if (value.length > MAX_HEADER_VALUE || !VALUE.test(value))
      yield wrong(`must be 1 to ${MAX_HEADER_VALUE} visible ASCII characters`);
    seen.add(name.toLowerCase());
  }
}

/** What is wrong with labels. */
export function* checkLabels(labels: Readonly<Record<string, string>>): Iterable<FieldViolation> {
  if (Object.keys(labels).length > MAX_ENTRIES)
    yield { field: 'extra_labels', description: `must be at most ${MAX_ENTRIES}` };
  for (const [name, value] of Object.entries(labels)) {
    const wrong = (description: string) => ({ field: `extra_labels.${name}`, description });
    if (!LABEL.test(name))
      yield wrong('must be 1 to 128 letters, digits, dots, dashes, slashes or underscores');
    else if (RESERVED.test(name)) yield wrong('is set by svc itself');
    else if (value.length > MAX_LABEL_VALUE) yield wrong(`must be at most ${MAX_LABEL_VALUE} characters`);
  }
}
