import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/kit/time.ts';

/** The value types of settings, as they are written in svc.yaml. Durations are text (`30s`) there and milliseconds in the program. */
interface Values {
  string: string;
  integer: number;
  number: number;
  boolean: boolean;
  duration: number;
  list: readonly string[];
  object: Readonly<Record<string, unknown>>;
}

/** One setting: its type, default and meaning. Its environment variable is `SVC_` and its key in capitals. */
export interface Setting<T extends keyof Values = keyof Values> {
  readonly type: T;
  readonly default: Values[T];
  readonly about: string;
  /** Further environment variables that set it, strongest first. */
  readonly env?: readonly string[];
  /** Its value is never shown or logged. */
  readonly secret?: true;
  /** The values it may have. */
  readonly values?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

function setting<T extends keyof Values>(
  type: T,
  defaultValue: Values[T],
  about: string,
  more: Partial<Setting<T>> = {},
): Setting<T> {
  return { type, default: defaultValue, about, ...more };
}

const KEY_SOURCES = ['correlation', 'api_key', 'user_id', 'ip'];

/** Every setting of an instance. The key is its place in svc.yaml. */
export const SETTINGS = {
  'data.dir': setting('string', '~/.svc', 'Where the instance keeps everything'),
  'server.host': setting('string', '127.0.0.1', 'Address to listen on'),
  'server.port': setting('integer', 8089, 'Port to listen on; 0 picks a free one', {
    minimum: 0,
    maximum: 65_535,
  }),
  'server.hosts': setting('list', [], 'Host names this instance answers for, besides its own addresses'),
  'server.public_url': setting('string', '', 'URL under which people reach this instance, for links in mail'),
  'server.stop_timeout': setting('duration', 10 * SECOND_MS, 'How long open requests may go on at a stop'),
  'server.cors.enabled': setting('boolean', false, 'Lets pages of other origins call from a browser'),
  'server.cors.allowed_origins': setting(
    'list',
    [],
    'Those origins, such as https://app.example.com; * is every one',
  ),
  'server.cors.allowed_methods': setting(
    'list',
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    'Methods that they may use',
  ),
  'server.cors.allowed_headers': setting(
    'list',
    ['*'],
    'Headers that they may send; * is whatever they ask for',
  ),
  'server.cors.exposed_headers': setting(
    'list',
    ['x-request-id', 'retry-after', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
    'Headers of answers that they may read',
  ),
  'server.cors.allow_credentials': setting(
    'boolean',
    false,
    'Lets their requests bring the session cookie, for reading',
  ),
  'server.cors.max_age': setting('duration', 10 * MINUTE_MS, 'How long browsers remember what is allowed', {
    maximum: DAY_MS,
  }),
  'log.level': setting('string', 'info', 'Least level that is logged', {
    values: ['debug', 'info', 'warn', 'error'],
  }),
  'log.format': setting('string', 'text', 'text for people, json for machines', { values: ['text', 'json'] }),
  'auth.mode': setting(
    'string',
    'self_hosted',
    'self_hosted, or cloud for sign-in through an identity provider',
    { values: ['self_hosted', 'cloud'] },
  ),
  'auth.local_trust': setting(
    'boolean',
    false,
    'Lets browsers on this machine in without a login, on a loopback bind',
  ),
  'auth.bearer_on_v1': setting('boolean', false, 'Accepts Authorization: Bearer on /v1 too'),
  'auth.session_ttl': setting('duration', 7 * DAY_MS, 'How long a session cookie is good'),
  'auth.cookie.name': setting('string', 'es_svc_session', 'Name of the session cookie'),
  'auth.cookie.domain': setting('string', '', 'Domain of the session cookie'),
  'auth.cookie.secure': setting(
    'boolean',
    true,
    'Secure flag; relaxed by itself for local and private addresses',
  ),
  'auth.cookie.http_only': setting('boolean', true, 'HttpOnly flag of the session cookie'),
  'auth.cookie.same_site': setting('string', 'Lax', 'SameSite of the session cookie', {
    values: ['Lax', 'Strict', 'None'],
  }),
  'auth.instance_id': setting('string', '', 'Id of this instance at the control plane that manages it'),
  'auth.exchange_secret': setting(
    'string',
    '',
    'Secret shared with the control plane, for the managed-instance exchange',
    { secret: true },
  ),
  'auth.oidc': setting(
    'object',
    {},
    'Identity providers by name: {issuer, client_id, client_secret, scopes, link_by_email}',
    { secret: true },
  ),
  'auth.root_api_key': setting('string', '', 'The admin key of the first start', {
    secret: true,
    env: ['SVC_ROOT_API_KEY'],
  }),
  'license.public_key': setting(
    'string',
    '',
    'Key that statements of the licence are verified with: PEM (SPKI) or JWK as JSON',
  ),
  'license.secret': setting(
    'string',
    '',
    'Secret that they are verified with (HS256) where there is no public key',
    { secret: true },
  ),
  'license.callback_secret': setting(
    'string',
    '',
    'Secret that the control plane sends with the activation callback, or sha256:<hex> of it',
    { secret: true },
  ),
  'license.seats': setting('integer', 0, 'Seats of the license; 0 is unlimited', { minimum: 0 }),
  'mail.smtp_url': setting(
    'string',
    '',
    'smtp://user:password@host:port or smtps://, for magic links and invitations; without it they are in the log',
    {
      secret: true,
    },
  ),
  'mail.from': setting('string', 'svc@localhost', 'Sender of mail'),
  'websearch.provider': setting(
    'string',
    '',
    'Who searches the web for agents: searxng, brave or tavily; nobody when empty',
    { values: ['', 'searxng', 'brave', 'tavily'] },
  ),
  'websearch.url': setting(
    'string',
    '',
    'Address of that service; needed for searxng, such as http://127.0.0.1:8888',
  ),
  'websearch.api_key': setting('string', '', 'Key of that service', { secret: true }),
  'outbound.allow': setting(
    'list',
    [],
    'Private hosts (name, address or CIDR, optional :port) that may be called',
  ),
  'gateway.retries': setting('integer', 1, 'Further tries of one provider after 429, timeouts and 5xx', {
    minimum: 0,
    maximum: 5,
  }),
  'gateway.timeout': setting('duration', 10 * MINUTE_MS, 'Longest time until the first content of an answer'),
  'gateway.prices': setting(
    'object',
    {},
    'Prices of models by provider/model or provider/*, US dollars for a million tokens: {input, cached_input, cache_write, output, reasoning}',
  ),
  'gateway.log_retention': setting(
    'duration',
    30 * DAY_MS,
    'How long the log of requests to models is kept',
    {
      minimum: DAY_MS,
    },
  ),
  'gateway.responses_ttl': setting(
    'duration',
    30 * DAY_MS,
    'How long responses are kept after their last use',
    {
      minimum: MINUTE_MS,
    },
  ),
  'gateway.background_responses': setting(
    'integer',
    8,
    'Most responses of one tenant that are made in the background at once; others wait',
    { minimum: 1, maximum: 1000 },
  ),
  'gateway.log_max_requests': setting('integer', 5_000_000, 'Most requests that are kept in that log', {
    minimum: 1000,
  }),
  'gateway.rate_limit.enabled': setting('boolean', false, 'Counts requests to models'),
  'gateway.rate_limit.requests_per_minute': setting('integer', 500, 'How fast a bucket of requests fills', {
    minimum: 1,
    maximum: 1_000_000,
  }),
  'gateway.rate_limit.burst': setting('integer', 100, 'Size of a bucket of requests', {
    minimum: 1,
    maximum: 1_000_000,
  }),
  'gateway.rate_limit.key_source': setting('string', 'correlation', 'What has a bucket of its own', {
    values: KEY_SOURCES,
  }),
  'gateway.load_balancer.enabled': setting(
    'boolean',
    false,
    'Spreads calls of a model over all providers that have it',
  ),
  'gateway.load_balancer.strategy': setting('string', 'priority', 'How calls are spread', {
    values: ['priority', 'round_robin', 'weighted', 'least_connections'],
  }),
  'gateway.load_balancer.key_source': setting('string', 'correlation', 'What a choice is made by', {
    values: KEY_SOURCES,
  }),
  'gateway.load_balancer.weights': setting('object', {}, 'Weights by provider, for the strategy weighted'),
  'cache.enabled': setting('boolean', false, 'Keeps answers of models for the same request'),
  'cache.type': setting('string', 'memory', 'Where they are kept', { values: ['memory', 'redis'] }),
  'cache.memory.ttl': setting('duration', 10 * MINUTE_MS, 'How long they are good', {
    minimum: SECOND_MS,
    maximum: 30 * DAY_MS,
  }),
  'cache.memory.max_size': setting('integer', 50_000, 'Most answers kept', {
    minimum: 1,
    maximum: 1_000_000,
  }),
  'cache.redis.address': setting('string', '', 'Redis as host:port or rediss://host:port'),
  'cache.redis.password': setting('string', '', 'Password of that Redis, or user:password', { secret: true }),
  'cache.redis.db': setting('integer', 0, 'Number of the database there', { minimum: 0, maximum: 1023 }),
  'cache.redis.pool_size': setting('integer', 10, 'Most connections to it', { minimum: 1, maximum: 100 }),
  'cache.memory.max_mb': setting('integer', 64, 'Memory that kept answers take at most, of all tenants', {
    minimum: 1,
    maximum: 1_000_000,
  }),
  'cache.disk.max_mb': setting(
    'integer',
    256,
    'Size of the file that kept answers are found again in after a start; 0 is no file',
    { minimum: 0, maximum: 1_000_000 },
  ),
  'cache.semantic.enabled': setting(
    'boolean',
    false,
    'Answers requests that say nearly the same as one whose answer is kept',
  ),
  'cache.semantic.model': setting(
    'string',
    '',
    'Embedding model that tells how alike texts are, such as openai/text-embedding-3-small; MinHash of their letters when empty',
  ),
  'cache.semantic.threshold': setting('number', 0.95, 'How alike they must be', { minimum: 0.5, maximum: 1 }),
  'guardrails.enabled': setting('boolean', false, 'Looks at what goes into models and what comes out'),
  'guardrails.templates': setting('list', [], 'Guardrails for a field: financial, healthcare, code_safety'),
  'guardrails.input_guardrails': setting(
    'object',
    {},
    'What requests are looked at for: {token_limits, prompt_injection, pii_detection, content_filtering}',
  ),
  'guardrails.output_guardrails': setting(
    'object',
    {},
    'What answers are looked at for: {jailbreak_detection, toxicity, code_execution}',
  ),
  'telemetry.enabled': setting('boolean', false, 'Sends traces and metrics of requests to models'),
  'telemetry.sampling_rate': setting('number', 1, 'Share of the requests that are traced', {
    minimum: 0,
    maximum: 1,
  }),
  'telemetry.granularity': setting('string', 'standard', 'How much a trace tells', {
    values: ['minimal', 'standard', 'detailed'],
  }),
  'telemetry.trace_provider_calls': setting('boolean', true, 'Traces each call of a provider'),
  'telemetry.trace_stream_chunks': setting(
    'boolean',
    false,
    'Marks the first piece of a stream, and its end',
  ),
  'telemetry.trace_fallbacks': setting('boolean', true, 'Traces fallbacks'),
  'telemetry.collector_url': setting(
    'string',
    '',
    'OTLP/HTTP receiver of the traces, such as http://127.0.0.1:4318; that of svc otlp set when empty',
  ),
  'telemetry.metric_interval': setting(
    'duration',
    30 * SECOND_MS,
    'Time between two exports of metrics of requests to models',
    { minimum: SECOND_MS, maximum: HOUR_MS },
  ),
  'telemetry.service_name': setting('string', 'svc', 'Name of this service in traces'),
  'features.enable_streaming': setting('boolean', true, 'Answers of models in pieces'),
  'features.enable_embeddings': setting('boolean', true, 'Embeddings'),
  'features.enable_function_calling': setting('boolean', true, 'Tools that models call'),
  'features.enable_response_caching': setting(
    'boolean',
    true,
    'Keeping answers, where cache.enabled is on too',
  ),
  'features.enable_sse': setting('boolean', true, 'Server-sent events'),
  'features.enable_request_logging': setting('boolean', true, 'The log of requests to models'),
  'features.enable_health_checks': setting('boolean', true, 'Watching how providers answer'),
  'features.memory.embedding_models': setting(
    'list',
    [],
    'Models that memory collections may use; every model of the gateway when empty',
  ),
  'features.enable_agents': setting('boolean', true, 'Agents'),
  providers: setting(
    'object',
    {},
    'Model providers by name: {base_url, api_key or keys, models, settings, dialect}',
    { secret: true },
  ),
  'gateway.share_providers': setting(
    'boolean',
    true,
    'Lets organizations other than the instance’s own call its providers of svc.yaml and the environment, with their keys',
  ),
  'providers.openai.api_key': setting('string', '', 'Key of the chat-completions upstream', {
    secret: true,
    env: ['OPENAI_API_KEY'],
  }),
  'providers.openai.base_url': setting(
    'string',
    'https://api.openai.com/v1',
    'Address of the chat-completions upstream',
    { env: ['OPENAI_BASE_URL'] },
  ),
  'sandbox.driver': setting(
    'string',
    'auto',
    'auto takes namespace on Linux when the host can, else docker',
    { values: ['auto', 'namespace', 'docker'] },
  ),
  'sandbox.default_image': setting(
    'string',
    'host',
    'Image of a sandbox that names none; host is this machine’s /usr, read-only',
  ),
  'sandbox.docker_socket': setting(
    'string',
    '',
    'Socket of the Docker engine; found by itself when empty (DOCKER_HOST, then the usual places)',
    { env: ['SVC_DOCKER_SOCKET'] },
  ),
  'sandbox.docker_allow_unguarded_network': setting(
    'boolean',
    false,
    'Gives docker sandboxes a network where svc cannot guard it (no root, or an engine in a virtual machine)',
  ),
  'sandbox.docker_image': setting(
    'string',
    'debian:bookworm-slim',
    'Image of a docker sandbox that names none',
  ),
  'sandbox.warm': setting('integer', 2, 'Prepared sandboxes kept ready', { minimum: 0, maximum: 64 }),
  'sandbox.max': setting('integer', 500, 'Most sandboxes at once', { minimum: 1 }),
  'sandbox.cpu': setting('number', 1, 'Cores of a sandbox that asks for none', { minimum: 0.05 }),
  'sandbox.memory_mb': setting('integer', 512, 'Memory of a sandbox that asks for none', { minimum: 16 }),
  'sandbox.max_cpu': setting('number', 4, 'Most cores of one sandbox', { minimum: 0.05 }),
  'sandbox.max_memory_mb': setting('integer', 4096, 'Most memory of one sandbox', { minimum: 16 }),
  'sandbox.pids': setting('integer', 512, 'Most processes of one sandbox', { minimum: 16 }),
  'sandbox.timeout': setting('duration', HOUR_MS, 'Lifetime of a sandbox that asks for none; 0s is for ever'),
  'sandbox.sample_interval': setting(
    'duration',
    30 * SECOND_MS,
    'Time between two points of the metrics history, and between two exports of metrics',
    { minimum: SECOND_MS },
  ),
  'sandbox.preview_host': setting(
    'string',
    '',
    'Domain of previews, such as previews.example.com with wildcard DNS; names under preview.localhost when empty',
  ),
  'sandbox.name_servers': setting(
    'list',
    [],
    'Who is asked for names that sandboxes look up (address or address:port); the name servers of this host when empty',
  ),
  'sandbox.code_contexts': setting('integer', 16, 'Most code contexts of one sandbox', {
    minimum: 1,
    maximum: 1000,
  }),
  'sandbox.code_idle': setting(
    'duration',
    30 * MINUTE_MS,
    'How long a code context may be unused before it is closed; 0s is for ever',
  ),
  'agents.retention': setting(
    'duration',
    90 * DAY_MS,
    'How long a session of an agent is kept after the last thing that happened in it; 0s is for ever',
  ),
  'functions.image': setting(
    'string',
    '',
    'Image that isolated functions run on; when empty the host (namespace) or the template of their language (docker)',
  ),
  'functions.instances': setting('integer', 4, 'Most sandboxes of one tenant that run functions', {
    minimum: 1,
    maximum: 64,
  }),
  'functions.idle': setting(
    'duration',
    5 * MINUTE_MS,
    'How long the sandbox of a function waits for the next call before it ends',
    { minimum: SECOND_MS },
  ),
  'mcp.image': setting(
    'string',
    '',
    'Image that tool servers which are programs run on; when empty the host (namespace) or the template node (docker)',
  ),
  'mcp.programs': setting('integer', 8, 'Most tool servers of one tenant that run as programs at once', {
    minimum: 1,
    maximum: 64,
  }),
  'mcp.idle': setting(
    'duration',
    5 * MINUTE_MS,
    'How long the program of a tool server waits for the next call before its sandbox ends',
    { minimum: SECOND_MS, maximum: DAY_MS },
  ),
  'mcp.health_interval': setting(
    'duration',
    30 * SECOND_MS,
    'How often tool servers are asked whether they are there',
    {
      minimum: SECOND_MS,
      maximum: HOUR_MS,
    },
  ),
  'mcp.call_timeout': setting(
    'duration',
    MINUTE_MS,
    'How long a tool of a server may be silent in a call before it is given up; reports of progress count',
    { minimum: 100, maximum: 15 * MINUTE_MS },
  ),
  'sandbox.terminal_grace': setting(
    'duration',
    10 * MINUTE_MS,
    'How long a terminal waits for its viewer when the connection drops; 0s ends it at once',
  ),
  'sandbox.max_log': setting('integer', 64, 'Output kept of one command, in MiB', { minimum: 1 }),
  'ssh.enabled': setting('boolean', true, 'Takes SSH connections into sandboxes'),
  'ssh.host': setting('string', '', 'Address to take SSH connections on; that of server.host when empty'),
  'ssh.port': setting('integer', 2222, 'Port to take SSH connections on; 0 picks a free one', {
    minimum: 0,
    maximum: 65_535,
  }),
  'ssh.public_host': setting(
    'string',
    '',
    'Host name under which people reach SSH; found by itself when empty',
  ),
} as const satisfies Record<string, Setting>;

/** The key of a setting. */
export type SettingKey = keyof typeof SETTINGS;

/** The value of a setting in the program. */
export type SettingValue<K extends SettingKey> = Values[(typeof SETTINGS)[K]['type']];

/** The environment variables that set a key, strongest first: SERVER_PORT under the prefix SVC_, then its own. */
export function envNames(key: SettingKey): readonly string[] {
  const setting: Setting = SETTINGS[key];
  return [`SVC_${key.toUpperCase().replaceAll('.', '_')}`, ...(setting.env ?? [])];
}
