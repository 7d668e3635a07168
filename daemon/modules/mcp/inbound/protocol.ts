/** The revision without sessions, where each request says what it is (MCP 2026-07-28). */
export const STATELESS = '2026-07-28';

/** Revisions that begin with `initialize`, newest first. */
export const GREETING = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** What is answered to a client that names no revision that is known here (spec, MCP, inbound). */
export const USUAL = '2025-03-26';

/** Codes of errors (JSON-RPC 2.0, 5.1, and MCP 2026-07-28). */
export const RPC = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const;

/** A request or, without `id`, a notification. */
export interface Message {
  readonly id?: string | number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** An answer to a message that cannot be served: an error with the HTTP status that goes with it. */
export class RpcFailure extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly status = 400,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

type Json = Readonly<Record<string, unknown>>;

const META = 'io.modelcontextprotocol/';
/** Methods whose header Mcp-Name repeats a field of the body. */
const NAMED = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

/** Reads one message. Undefined when it is the answer to something, which nobody has asked here. Errors: RpcFailure. */
export function readMessage(value: unknown): Message | undefined {
  if (Array.isArray(value))
    throw new RpcFailure(RPC.invalidRequest, 'Batches are not taken; send one message.');
  if (!isObject(value) || value.jsonrpc !== '2.0') throw notAMessage();
  const { id, method, params } = value;
  if (method === undefined && ('result' in value || 'error' in value)) return undefined;
  if (typeof method !== 'string') throw notAMessage();
  if (params !== undefined && !isObject(params)) throw notAMessage();
  if (id !== undefined && typeof id !== 'string' && !Number.isInteger(id)) throw notAMessage();
  return { method, params: params ?? {}, ...(id === undefined ? {} : { id: id as string | number }) };
}

/**
 * The revision that a message is in, after its body and headers were found to agree: undefined for the revisions that
 * begin with a greeting. Errors: RpcFailure.
 */
export function revisionOf(message: Message, headers: Headers): typeof STATELESS | undefined {
  const said = headers.get('mcp-protocol-version')?.trim();
  const meta = isObject(message.params._meta) ? message.params._meta : {};
  const claimed = meta[`${META}protocolVersion`];
  if (claimed === undefined) return withoutClaim(message, said);
  if (typeof claimed !== 'string') throw badEnvelope('protocolVersion must be text');
  checkEnvelope(message, meta);
  if (said !== undefined && said !== claimed)
    throw mismatch(`the body names ${claimed}, the header MCP-Protocol-Version ${said}`);
  checkMethod(message, headers);
  if (message.id === undefined) return STATELESS;
  if (said === undefined) throw mismatch('the header MCP-Protocol-Version is missing');
  checkName(message, headers);
  if (claimed !== STATELESS) throw unsupported(claimed);
  return STATELESS;
}

/** Old clients name the revision in the header alone, once they know it. */
function withoutClaim({ method, id }: Message, said: string | undefined): typeof STATELESS | undefined {
  if (said === undefined || method === 'initialize') {
    if (said !== undefined && isNew(said)) throw mismatch(`initialize does not exist in ${said}`);
    return undefined;
  }
  if (isNew(said)) {
    if (id === undefined) return STATELESS;
    throw badEnvelope(`${META}protocolVersion is missing`);
  }
  if (!GREETING.some((known) => known === said)) throw unsupported(said);
  return undefined;
}

function checkEnvelope({ id }: Message, meta: Json): void {
  if (id === undefined) return;
  const info = meta[`${META}clientInfo`];
  if (
    info !== undefined &&
    (!isObject(info) || typeof info.name !== 'string' || typeof info.version !== 'string')
  )
    throw badEnvelope('clientInfo must have a name and a version');
  if (!isObject(meta[`${META}clientCapabilities`])) throw badEnvelope('clientCapabilities must be an object');
}

function checkMethod({ method }: Message, headers: Headers): void {
  const said = headers.get('mcp-method')?.trim();
  if (said !== undefined && said !== method)
    throw mismatch(`the body names ${method}, the header Mcp-Method ${said}`);
}

function checkName({ method, params }: Message, headers: Headers): void {
  if (!headers.has('mcp-method')) throw mismatch('the header Mcp-Method is missing');
  const field = NAMED.get(method);
  if (!field) return;
  const name = params[field];
  const said = headers.get('mcp-name')?.trim();
  if (typeof name !== 'string') return;
  if (said === undefined) throw mismatch('the header Mcp-Name is missing');
  if (decoded(said) !== name) throw mismatch(`the body names ${name}, the header Mcp-Name ${said}`);
}

/** Names that are not plain ASCII travel as `=?base64?...?=` (MCP 2026-07-28, Streamable HTTP). */
function decoded(text: string): string {
  const inner = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(text)?.[1];
  return inner === undefined ? text : Buffer.from(inner, 'base64').toString();
}

/** Revisions are dates: those from the stateless one on. */
function isNew(version: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= STATELESS;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const notAMessage = () => new RpcFailure(RPC.invalidRequest, 'The body is not a JSON-RPC 2.0 message.');
const badEnvelope = (why: string) =>
  new RpcFailure(RPC.invalidParams, `The _meta of the request is wrong: ${why}.`);
const mismatch = (why: string) => new RpcFailure(RPC.headerMismatch, `Headers and body disagree: ${why}.`);
const unsupported = (requested: string) =>
  new RpcFailure(RPC.unsupportedVersion, `The protocol version ${requested} is not spoken here.`, 400, {
    supported: [STATELESS, ...GREETING],
    requested,
  });
