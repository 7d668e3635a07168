import type { Endpoint, Role } from '../../../src/api/endpoint.ts';
import type { Forgery } from './forgeries.ts';

/** What becomes of a request at the door: let through to its operation, or refused with this reason. */
export type Verdict = 'passes' | 'unauthenticated' | 'forbidden' | 'cross_origin' | 'misdirected';

/** What a credential truly is. */
export interface Truth {
  /** The role behind it; undefined when it lets nobody in. */
  readonly role?: Role;
  /** A browser adds it by itself. */
  readonly isCookie?: boolean;
  /** A live session comes along but does not count, since something else was presented. */
  readonly hidesSession?: boolean;
  /** It is no credential at all: nothing is presented. */
  readonly isAbsent?: boolean;
}

/** What the instance lets in without a credential. */
export type Trust = 'nobody' | 'this machine';

/** The operations that anybody may call. One more is a decision: it is made here too. */
export const PUBLIC: ReadonlySet<string> = new Set([
  'GetAuthMode',
  'Register',
  'Login',
  'RequestMagicLink',
  'VerifyMagicLink',
  'GetAuthURL',
  'Authenticate',
  'ExchangeToken',
  'OpenLaunchUrl',
  'auth.GetSession',
  'SignOut',
  'AcceptInvitation',
  'Healthz',
  'GetOpenApi',
  'GetOpenApiSpec',
  'InvokeSandboxWebhook',
  'FinishMcpAuthorization',
  'ActivationCallback',
  'SubscriptionStatusCallback',
]);

/** An operation as PUBLIC names it: some of different specifications have one name. */
export const publicName = ({ spec, id }: Endpoint) => (id === 'GetSession' ? `${spec}.${id}` : id);

const ORDER: readonly Role[] = ['viewer', 'member', 'admin', 'owner'];

/**
 * What must become of a request, by the rules of the specification's order of checks as they are written
 * down for this program, and from nothing of the program's own code. Several verdicts when several reasons
 * for a refusal hold.
 */
export function expected(
  endpoint: Endpoint,
  method: string,
  truth: Truth,
  forgery: Forgery,
  trust: Trust = 'nobody',
): readonly Verdict[] {
  if (forgery.isForeignHost) return ['misdirected'];
  const isRead = (method === 'GET' || method === 'HEAD') && endpoint.stream !== 'websocket';
  if (PUBLIC.has(publicName(endpoint))) return [publicVerdict(endpoint, isRead, truth, forgery)];
  const isTrusted = truth.isAbsent && trust === 'this machine' && isTrustedPage(isRead, forgery);
  const role = isTrusted ? 'owner' : truth.role;
  const lacksSession = endpoint.id === 'RefreshSession' && !truth.isCookie;
  if (role === undefined || lacksSession) return ['unauthenticated'];
  const refusals: Verdict[] = [];
  if (truth.isCookie && !isRead && forgery.sender !== 'own page') refusals.push('cross_origin');
  if (ORDER.indexOf(role) < ORDER.indexOf(endpoint.access as Role)) refusals.push('forbidden');
  return refusals.length > 0 ? refusals : ['passes'];
}

/** Signing in and out must not be done to a user by a page of another origin. */
function publicVerdict(endpoint: Endpoint, isRead: boolean, truth: Truth, { sender }: Forgery): Verdict {
  if (endpoint.spec !== 'auth' || isRead) return 'passes';
  if (sender === 'other page') return 'cross_origin';
  if (endpoint.id !== 'SignOut') return 'passes';
  const hasSession = truth.role !== undefined && truth.isCookie;
  return truth.hidesSession || (hasSession && sender !== 'own page') ? 'cross_origin' : 'passes';
}

/** A page of this instance, or the user's own navigation, in a browser of this machine with nothing between. */
function isTrustedPage(isRead: boolean, { sender, isForwarded }: Forgery): boolean {
  return !isForwarded && (sender === 'own page' || (sender === 'user' && isRead));
}
