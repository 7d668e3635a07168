/** What one error code means at each edge. */
export interface CodeEntry<Data = never> {
  /** HTTP status. */
  readonly http: number;
  /** RPC code (google.rpc.Code), the integer `code` on the wire. */
  readonly rpc: number;
  /** Exit code of the CLI. */
  readonly exit: number;
  /** The sentence a person reads: what is wrong and with what. */
  readonly message: (data: Data) => string;
  /** What to do next, when that is known. */
  readonly hint?: (data: Data) => string;
}

/** Exit codes of the CLI. */
export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  unreachable: 3,
  auth: 4,
  notFound: 5,
  conflict: 6,
  interrupted: 130,
} as const;

interface Kind {
  readonly http: number;
  readonly rpc: number;
  readonly exit: number;
}

const invalid: Kind = { http: 400, rpc: 3, exit: EXIT.usage };
const unauthenticated: Kind = { http: 401, rpc: 16, exit: EXIT.auth };
const forbidden: Kind = { http: 403, rpc: 7, exit: EXIT.auth };
const notFound: Kind = { http: 404, rpc: 5, exit: EXIT.notFound };
const exists: Kind = { http: 409, rpc: 6, exit: EXIT.conflict };
const wrongState: Kind = { http: 409, rpc: 9, exit: EXIT.conflict };
const busy: Kind = { http: 409, rpc: 10, exit: EXIT.conflict };
const exhausted: Kind = { http: 429, rpc: 8, exit: EXIT.error };
const internal: Kind = { http: 500, rpc: 13, exit: EXIT.error };
const unavailable: Kind = { http: 503, rpc: 14, exit: EXIT.error };

function entry<Data>(
  kind: Kind,
  message: (data: Data) => string,
  hint?: (data: Data) => string,
): CodeEntry<Data> {
  return { ...kind, message, hint };
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

type Id = { id: string };
type Text = { message: string };
type Path = { path: string };
/** What was tried before a call of a model failed. */
type Attempts = {
  attempts?: ReadonlyArray<{ model: string; failure?: string; status?: number; ms: number }>;
};

/**
 * Every error that svc can answer. The string code travels in `details`, the integer in `code`.
 * One table, so that the HTTP status, the RPC code, the exit code and the words never disagree.
 */
export const CODES = {
  invalid_argument: entry(invalid, ({ message }: { message: string; field: string }) => message),
  malformed_body: entry(invalid, ({ message }: Text) => message),
  unauthenticated: entry(
    unauthenticated,
    ({ message }: Text) => message,
    () => 'Send an API key in the header x-svc-api-key, or run: svc login',
  ),
  bad_login: entry(unauthenticated, () => 'The email or the password is wrong.'),
  bad_link: entry(
    unauthenticated,
    () => 'The link is wrong, has expired or was used already.',
    () => 'Ask for a new one.',
  ),
  bad_signature: entry(
    unauthenticated,
    () => 'The signature of this request is missing or wrong.',
    () => 'Send X-Hub-Signature-256: sha256=<hex HMAC-SHA256 of the body, keyed with the secret>.',
  ),
  bad_statement: entry(
    unauthenticated,
    ({ why }: { why: string }) => `The signed statement is not accepted: ${why}.`,
  ),
  registration_closed: entry(
    forbidden,
    () => 'This instance has its owner; further people join by invitation.',
    () => 'Ask an owner or an admin to invite you.',
  ),
  setup_token_required: entry(
    forbidden,
    () => 'The first registration from elsewhere needs the setup token of this instance.',
    () => 'It stands in the log of the instance; send it in the header x-svc-setup-token.',
  ),
  forbidden: entry(forbidden, ({ need }: { need: string }) => `This needs the role ${need}.`),
  instance_only: entry(forbidden, () => 'This is for the organization that the instance itself belongs to.'),
  cross_origin: entry(forbidden, () => 'The request comes from another origin.'),
  misdirected: entry(
    { http: 421, rpc: 9, exit: EXIT.error },
    ({ host }: { host: string }) => `This instance does not answer for the host ${JSON.stringify(host)}.`,
    () => 'Add it to server.hosts (svc config set server.hosts ...).',
  ),
  route_not_found: entry(
    notFound,
    ({ method, path }: { method: string; path: string }) => `No operation at ${method} ${path}.`,
  ),
  method_not_allowed: entry(
    { http: 405, rpc: 12, exit: EXIT.usage },
    ({ method, path }: { method: string; path: string; allow: string }) => `${path} has no ${method}.`,
    ({ allow }) => `It has ${allow}.`,
  ),
  not_found: entry(
    notFound,
    ({ what, id }: { what: string; id: string }) => `There is no ${what} ${JSON.stringify(id)}.`,
  ),
  sandbox_not_found: entry(
    notFound,
    ({ id }: Id) => `There is no sandbox ${JSON.stringify(id)}.`,
    () => 'List yours: svc sandbox list',
  ),
  template_not_found: entry(
    notFound,
    ({ id }: Id) => `There is no template ${JSON.stringify(id)}.`,
    () => 'List them: svc sandbox templates',
  ),
  context_ended: entry(
    wrongState,
    ({ id, why }: { id: string; why: string; language: string }) =>
      `The code context ${id} has ended: ${why}. Its variables are gone.`,
    ({ language }) =>
      `Open another one: POST code/context {"language": "${language}"}, or run without a context.`,
  ),
  terminal_ended: entry(
    wrongState,
    ({ id, why }: { id: string; why: string }) => `The terminal ${id} has ended: ${why}.`,
    () => 'Open another one: svc sandbox shell NAME',
  ),
  command_not_found: entry(
    notFound,
    ({ id }: Id) => `There is no command ${JSON.stringify(id)} in this sandbox.`,
  ),
  image_not_found: entry(
    notFound,
    ({ image, why }: { image: string; why: string }) =>
      `The image ${JSON.stringify(image)} could not be had: ${why}.`,
  ),
  file_not_found: entry(
    notFound,
    ({ path }: Path) => `There is no file ${JSON.stringify(path)} in the sandbox.`,
  ),
  file_denied: entry(
    forbidden,
    ({ path, why }: Path & { why: string }) => `${JSON.stringify(path)} may not be used so: ${why}.`,
  ),
  file_exists: entry(exists, ({ path }: Path) => `${JSON.stringify(path)} exists already.`),
  not_a_directory: entry(
    wrongState,
    ({ path }: Path) => `A part of ${JSON.stringify(path)} is no directory.`,
  ),
  is_a_directory: entry(wrongState, ({ path }: Path) => `${JSON.stringify(path)} is a directory.`),
  directory_not_empty: entry(
    wrongState,
    ({ path }: Path) => `The directory ${JSON.stringify(path)} is not empty.`,
  ),
  cross_device: entry(
    wrongState,
    ({ path }: Path) => `${JSON.stringify(path)} cannot be moved to another file system as it is.`,
  ),
  file_failed: entry(
    wrongState,
    ({ path, why }: Path & { why: string }) => `${JSON.stringify(path)} cannot be used: ${why}.`,
  ),
  model_not_found: entry(
    notFound,
    ({ model }: { model: string; near: string[] }) => `There is no model ${JSON.stringify(model)}.`,
    ({ near }) => (near.length > 0 ? `Did you mean ${near.join(', ')}?` : 'List them: GET /compat/v1/models'),
  ),
  response_not_found: entry(
    notFound,
    ({ id }: Id) => `There is no response ${JSON.stringify(id)}.`,
    () => 'Responses are kept unless store is false, for as long as gateway.responses_ttl says.',
  ),
  previous_response_not_found: entry(
    invalid,
    ({ id }: Id & { said: { param: string } }) => `There is no previous response ${JSON.stringify(id)}.`,
    () => 'Responses are kept unless store is false, for as long as gateway.responses_ttl says.',
  ),
  provider_not_found: entry(
    notFound,
    ({ name }: { name: string }) => `There is no provider ${JSON.stringify(name)} here.`,
    () => 'List those that are set up: svc provider list; those that are known: svc provider catalog',
  ),
  feature_off: entry(
    forbidden,
    ({ what }: { name: string; what: string }) =>
      `${what[0]?.toUpperCase()}${what.slice(1)} is off for this tenant.`,
    ({ name }) => `An admin turns it on: svc gateway config set features ${snake(name)}=true`,
  ),
  not_offered: entry(
    invalid,
    ({ provider, surface, model }: { provider: string; surface: string; model: string }) =>
      `The provider ${provider} of ${JSON.stringify(model)} does not offer ${surface.replaceAll('_', ' ')}.`,
    () => 'See what providers can do: svc provider catalog',
  ),
  section_not_found: entry(
    notFound,
    ({ section }: { section: string; near: string[] }) =>
      `There is no section ${JSON.stringify(section)} of the configuration.`,
    ({ near }) =>
      near.length > 0
        ? `Did you mean ${near.join(', ')}?`
        : 'They are rate_limit, load_balancer, features, cache, telemetry and cors.',
  ),
  schema_not_found: entry(
    notFound,
    ({ name }: { name: string; near: string[] }) => `There is no schema ${JSON.stringify(name)}.`,
    ({ near }) =>
      near.length > 0 ? `Did you mean ${near.join(', ')}?` : 'List them: GET /api/v1/config/schemas',
  ),
  nothing_listens: entry(
    { http: 502, rpc: 14, exit: EXIT.error },
    ({ port }: { port: number }) => `Nothing listens on port ${port} in the sandbox.`,
    () => 'See what does: svc sandbox ports detect',
  ),
  already_exists: entry(
    exists,
    ({ what, id }: { what: string; id: string }) => `The ${what} ${JSON.stringify(id)} exists already.`,
  ),
  idempotency_mismatch: entry(exists, () => 'This Idempotency-Key was used with another request.'),
  sandbox_wrong_state: entry(
    wrongState,
    ({ id, state, operation }: { id: string; state: string; operation: string; leave: string }) =>
      `The sandbox ${id} is ${state}; it cannot ${operation}.`,
    ({ leave }) => leave,
  ),
  failed_precondition: entry(wrongState, ({ message }: Text) => message),
  ssh_disabled: entry(
    wrongState,
    ({ id }: Id) => `SSH is off for the sandbox ${id}.`,
    ({ id }) => `Turn it on: svc sandbox ssh-enable ${id} (or create it with sshEnabled)`,
  ),
  review_settled: entry(
    wrongState,
    ({ id, how, at }: Id & { how: string; at: string }) => `The review ${id} ${how}, at ${at}.`,
    ({ id }) => `See it: svc review show ${id}`,
  ),
  busy: entry(busy, ({ message }: Text) => message),
  stale_version: entry(
    busy,
    ({ what, given, current }: { what: string; given: number; current: number }) =>
      `${what} is at version ${current}; this change was made from version ${given}.`,
    () => 'Read it again and make the change anew, or leave version out to overwrite it.',
  ),
  seat_limit: entry(
    exhausted,
    ({ limit }: { limit: number }) => `All ${limit} seats of the license are taken.`,
    () => 'Remove a member, revoke an invitation or raise license.seats.',
  ),
  rate_limited: entry(
    exhausted,
    ({
      message,
    }: Text & Attempts & { retryAfterSeconds: number; headers?: Readonly<Record<string, string>> }) =>
      message,
  ),
  budget_spent: entry(
    exhausted,
    ({ message }: Text & { retryAfterSeconds?: number; headers?: Readonly<Record<string, string>> }) =>
      message,
    () => 'See what was spent: svc usage; change the budget: svc budget set',
  ),
  guardrail_blocked: entry(
    invalid,
    ({ message }: Text & { violations: readonly object[]; direction?: 'input' | 'output' }) => message,
    () => 'See the guardrails of this tenant: svc guardrail get',
  ),
  not_cached: entry(
    { http: 504, rpc: 9, exit: EXIT.error },
    () => 'There is no kept answer to this request, and only a kept one is wanted.',
    () => 'Leave out only-if-cached to ask the model.',
  ),
  cache_unreachable: entry(
    unavailable,
    () => 'The Redis that keeps the answers does not answer.',
    () => 'See where it is: svc gateway config get cache',
  ),
  resource_exhausted: entry(exhausted, ({ message }: Text) => message),
  body_too_large: entry(
    { http: 413, rpc: 3, exit: EXIT.usage },
    ({ limit }: { limit: number }) => `The body is larger than ${limit} bytes.`,
  ),
  range_not_satisfiable: entry(
    { http: 416, rpc: 11, exit: EXIT.usage },
    ({ size }: { size: number }) => `The file has no such bytes: it is ${size} bytes long.`,
  ),
  unsupported_media_type: entry(
    { http: 415, rpc: 3, exit: EXIT.usage },
    ({ got }: { got: string }) => `The body must be JSON, not ${got || 'without a Content-Type'}.`,
  ),
  not_built: entry(
    { http: 501, rpc: 12, exit: EXIT.error },
    ({ operation }: { operation: string }) => `${operation} is not built yet.`,
    () => 'See what is not: svc api --unbuilt',
  ),
  not_configured: entry({ http: 501, rpc: 12, exit: EXIT.error }, ({ message }: Text) => message),
  runtime_missing: entry(
    unavailable,
    ({ message }: Text) => message,
    () => 'See what the host lacks: svc doctor --fix',
  ),
  disk_full: entry({ http: 507, rpc: 8, exit: EXIT.error }, ({ message }: Text) => message),
  upstream_failed: entry({ http: 502, rpc: 14, exit: EXIT.error }, ({ message }: Text & Attempts) => message),
  upstream_timeout: entry({ http: 504, rpc: 4, exit: EXIT.error }, ({ message }: Text & Attempts) => message),
  upstream_down: entry(unavailable, ({ message }: Text & Attempts) => message),
  upstream_rejected: entry(
    invalid,
    ({
      message,
    }: Text & Attempts & { status: number; said: { code?: string; type?: string; param?: string } }) =>
      message,
  ),
  unavailable: entry(unavailable, ({ message }: Text) => message),
  unreachable: entry(
    { http: 503, rpc: 14, exit: EXIT.unreachable },
    ({ url, why }: { url: string; why: string }) => `No svc answers at ${url}: ${why}.`,
    () => 'Start it: svc up',
  ),
  cancelled: entry({ http: 499, rpc: 1, exit: EXIT.interrupted }, () => 'The caller left.'),
  outbound_refused: entry(
    invalid,
    ({ url, why }: { url: string; why: string; field: string }) => `${url} may not be called: ${why}.`,
  ),
  internal: entry(internal, () => 'Something went wrong inside svc. The request id finds it in the log.'),
} as const;

/** The name of an error. */
export type Code = keyof typeof CODES;

/** What an error of this code says about its case; `undefined` when it has nothing to say. */
export type DataOf<C extends Code> =
  (typeof CODES)[C] extends CodeEntry<infer D> ? (unknown extends D ? undefined : D) : never;
