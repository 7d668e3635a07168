import { overWires, type Wire, type WireHeader, type WireResponse } from '../wire.ts';
import type { Credential } from './credentials.ts';
import { type Forgery, forgeriesFor } from './forgeries.ts';
import { expected, type Trust, type Verdict } from './oracle.ts';
import { contentOf, NOTHING, type Place, places, type Things } from './places.ts';

const CONNECTIONS = 8;
/** Every credential meets every forgery; else each of them meets the typical ones of the other kind. */
const isFull = process.env.SVC_TEST_MATRIX === 'full';

/** Credentials and forgeries that stand for their kind. */
const TYPICAL: ReadonlySet<string> = new Set([
  'nothing',
  'a forged key',
  'a forged session',
  'a revoked key',
  'expired session 1',
  'the root key',
  'the root key as bearer',
  'the root key in x-api-key',
  'session of a viewer',
  'session of an owner',
  'session of an owner of another tenant',
  'Origin own',
  'Origin: another site',
  'Sec-Fetch-Site none',
  'Host evil.com',
  'X-Forwarded-For: 127.0.0.1, own page',
]);
/** RFC 6455, 4.1. */
const UPGRADE: readonly WireHeader[] = [
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'],
  ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
];

const REFUSALS: readonly string[] = ['unauthenticated', 'forbidden', 'cross_origin', 'misdirected'];
const ENDS_SESSION: ReadonlySet<string> = new Set(['SignOut', 'RefreshSession']);
const STATUS = { unauthenticated: 401, forbidden: 403, cross_origin: 403, misdirected: 421 } as const;

/** What is sent to a daemon. */
export interface Matrix {
  readonly url: string;
  readonly credentials: readonly Credential[];
  readonly trust?: Trust;
  /** Things of the tenant that must not be touched. */
  readonly witness: Things;
  /** Texts of that tenant that nobody else may read. */
  readonly secrets?: readonly string[];
}

/** What came of it. */
export interface Outcome {
  readonly cases: number;
  /** Let through, or shown something, against the rules. */
  readonly bypasses: readonly string[];
  /** Refused, or failed, against the rules. */
  readonly wrong: readonly string[];
}

interface Case {
  readonly place: Place;
  readonly credential: Credential;
  readonly forgery: Forgery;
}

/** Sends every operation with every credential and every forgery, and compares what happens with the oracle. */
export async function runMatrix(matrix: Matrix): Promise<Outcome> {
  const forgeries = forgeriesFor(Number(new URL(matrix.url).port));
  const pairs = matrix.credentials
    .flatMap((credential) => forgeries.map((forgery) => ({ credential, forgery })))
    .filter(({ credential, forgery }) => isFull || TYPICAL.has(credential.name) || TYPICAL.has(forgery.name));
  const cases = places.flatMap((place) => pairs.map((pair) => ({ place, ...pair })));
  const found = await overWires(matrix.url, CONNECTIONS, cases, (wire, one) => judge(wire, one, matrix));
  const problems = found.filter((problem) => problem !== undefined);
  const texts = (isBypass: boolean) =>
    problems.filter((problem) => problem.isBypass === isBypass).map(({ text }) => text);
  return { cases: cases.length, bypasses: texts(true), wrong: texts(false) };
}

interface Problem {
  readonly isBypass: boolean;
  readonly text: string;
}

async function judge(wire: Wire, one: Case, matrix: Matrix): Promise<Problem | undefined> {
  const { place, credential, forgery } = one;
  const { endpoint, method } = place;
  const allowed = expected(endpoint, method, credential.truth(endpoint), forgery, matrix.trust);
  const { said, response } = await send(wire, one, allowed.includes('passes'), matrix);
  const verdict = verdictOf(response, allowed);
  const what = `${method} ${place.path} (${endpoint.id}), ${credential.name}, ${forgery.name}`;
  const came = `${verdict} with ${response.status}: ${response.text.slice(0, 200)}`;
  if (!allowed.includes(verdict))
    return { isBypass: verdict === 'passes', text: `${what}: not ${allowed.join(' or ')} but ${came}` };
  if (verdict !== 'passes') return undefined;
  if (credential.isForeign && isLeak(response, said, matrix))
    return { isBypass: true, text: `${what}: reaches another tenant: ${came}` };
  return isFailure(response.status) ? { isBypass: false, text: `${what}: ${came}` } : undefined;
}

/** Sends a case. What may pass is harmless, unless somebody of another tenant sends it: that must not work anyway. */
async function send(wire: Wire, one: Case, mayPass: boolean, matrix: Matrix) {
  const { place, credential } = one;
  const { endpoint, method } = place;
  const isRead = method === 'GET' || method === 'HEAD';
  const sparesWitness = mayPass && !isRead && !credential.isForeign;
  const { target, body } = contentOf(place, sparesWitness ? NOTHING : matrix.witness, mayPass);
  const usesUp = mayPass && ENDS_SESSION.has(endpoint.id);
  const proof = (usesUp && (await credential.renew?.())) || credential.headers;
  const response = await wire.send({
    method,
    target,
    headers: headersOf(one, proof, matrix.url, body),
    body,
    isStream: endpoint.stream === 'sse',
  });
  return { said: target + (body ?? ''), response };
}

function headersOf(
  { place, forgery }: Case,
  proof: readonly WireHeader[],
  url: string,
  body: string | undefined,
): WireHeader[] {
  return [
    ['Host', forgery.host ?? new URL(url).host],
    ...proof,
    ...forgery.headers,
    ...(body === undefined ? [] : [['Content-Type', 'application/json'] as const]),
    ...(place.endpoint.stream === 'websocket' ? UPGRADE : []),
  ];
}

/** What a response says of the request. That of a HEAD has no reason, so its status must do. */
function verdictOf({ status, text }: WireResponse, allowed: readonly Verdict[]): Verdict {
  const reason = /"(?:reason|error_code)":"([a-z_]+)"/.exec(text)?.[1] ?? '';
  if (REFUSALS.includes(reason)) return reason as Verdict;
  const byStatus = allowed.find((verdict) => verdict !== 'passes' && STATUS[verdict] === status);
  return text === '' && byStatus ? byStatus : 'passes';
}

/** An error of the instance's own; 501 and 503 are what a sandbox backend that is not there comes to. */
function isFailure(status: number): boolean {
  return status >= 500 && status !== 501 && status !== 503;
}

/** Whether an answer to somebody of another tenant shows or does anything; what the request said itself may come back. */
function isLeak({ status, text }: WireResponse, said: string, { witness, secrets = [] }: Matrix): boolean {
  const ids = Object.values(witness);
  const named = ids.filter((id) => said.includes(id));
  if (named.length > 0 && status < 400) return true;
  const shown = named.reduce((left, id) => left.replaceAll(id, ''), text);
  return [...ids, ...secrets].some((secret) => shown.includes(secret));
}
