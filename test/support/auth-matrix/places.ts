import type { Endpoint } from '../../../src/api/endpoint.ts';
import { fillPath } from '../../../src/api/endpoint.ts';
import { operations } from '../../../src/api/index.ts';

/** A built operation at one of its addresses. */
export interface Place {
  readonly endpoint: Endpoint;
  readonly method: string;
  readonly path: string;
}

/** The things of a tenant that requests name, by the name of the parameter. */
export type Things = Readonly<Record<string, string>>;

/** Things that nobody has. */
export const NOTHING: Things = {
  sandboxId: 'sbx_nothing',
  sessionId: 'ses_nothing',
  cmdId: 'cmd_nothing',
  invitationId: 'inv_nothing',
  userId: 'usr_nothing',
  id: 'key_nothing',
  deliveryId: 'del_nothing',
  contextId: 'ctx_nothing',
  terminalId: 'pty_nothing',
  tokenId: 'ssht_nothing',
  snapshotId: 'snap_nothing',
  volumeId: 'vol_nothing',
};

/** What every tenant has alike. */
const COMMON: Things = {
  templateId: 'python',
  model: 'local/echo',
  spec: 'auth',
  keyId: '404',
  port: '9',
  path: 'hook-of-nobody',
  responseId: 'resp_nothing',
  subject: 'nothing',
  section: 'nothing',
  name: 'nothing',
  providerName: 'nothing',
  providerConfigId: 'nothing',
  collectionName: 'nothing',
  documentId: 'doc_nothing',
  serverId: 'mcp_nothing',
  artifactId: 'art_nothing',
  agentId: 'agt_nothing',
  memoryId: 'mem_nothing',
  reviewId: 'rev_nothing',
  treeId: 'tree_nothing',
  requestId: 'req_nothing',
  version: '1',
};

/** Every address of every operation that is built; what answers GET answers HEAD too. */
export const places: readonly Place[] = operations
  .filter((endpoint) => !endpoint.unbuilt)
  .flatMap((endpoint) =>
    [endpoint, ...(endpoint.aliases ?? [])].flatMap(({ method, path }): Place[] => {
      const hasHead = method === 'GET' && endpoint.stream !== 'websocket' && endpoint.access !== 'public';
      const here = { endpoint, method, path };
      return hasHead ? [here, { ...here, method: 'HEAD' }] : [here];
    }),
  );

/** What a request to an operation says. */
export interface Content {
  readonly target: string;
  readonly body?: string;
}

/**
 * A request for an operation on these things. One that is not `harmless` changes something if it is let
 * through; a harmless one is refused by the operation itself, or changes nothing.
 */
export function contentOf({ endpoint, method, path }: Place, things: Things, isHarmless: boolean): Content {
  const query = new URLSearchParams(QUERIES[endpoint.id]?.(things, isHarmless)).toString();
  const target = fillPath(path, { ...COMMON, ...things }) + (query && `?${query}`);
  if (method === 'GET' || method === 'HEAD' || method === 'DELETE') return { target };
  return { target, body: JSON.stringify(BODIES[endpoint.id]?.(things, isHarmless) ?? {}) };
}

type Fill<T> = (things: Things, isHarmless: boolean) => T;

const QUERIES: Readonly<Record<string, Fill<Record<string, string>>>> = {
  UpdateApiKey: ({ id = '' }) => ({ id, name: 'renamed by an intruder' }),
  RegenerateApiKey: ({ id = '' }) => ({ id }),
  InterruptCommand: ({ cmdId = '' }) => ({ id: cmdId }),
  SandboxPty: () => ({ command: 'true', tty: 'false' }),
  ExchangeToken: () => ({ token: 'x' }),
  OpenLaunchUrl: () => ({ token: 'x' }),
  VerifyMagicLink: () => ({ token: 'x' }),
};

const BODIES: Readonly<Record<string, Fill<Record<string, unknown>>>> = {
  Register: () => ({ email: 'no address', password: 'correct horse' }),
  Login: () => ({ email: '', password: '' }),
  RequestMagicLink: () => ({ email: 'no address' }),
  AcceptInvitation: () => ({ token: 'x', password: 'correct horse' }),
  Authenticate: () => ({ code: 'x', state: 'x' }),
  VerifyMagicLink: () => ({ token: 'x' }),
  InviteTeamMember: (_, isHarmless) => ({ email: isHarmless ? 'no address' : 'intruder@example.com' }),
  CreateApiKey: (_, isHarmless) => ({ name: isHarmless ? 'two\nlines' : 'made by an intruder' }),
  CreateSandbox: (_, isHarmless) => ({ name: 'made-by-an-intruder', cpuLimit: isHarmless ? 1e9 : 1 }),
  RecreateSandbox: ({ sandboxId }) => ({ sandboxId }),
  RenewExpiration: () => ({ extra_seconds: 1 }),
  ExecuteCommand: () => ({ command: 'true' }),
  ExecuteCode: () => ({ code: '1' }),
  CreateVolume: (_, isHarmless) => ({ name: isHarmless ? '' : 'made-by-an-intruder' }),
  CreateSnapshot: (_, isHarmless) => ({ name: isHarmless ? '' : 'made-by-an-intruder', image: 'host' }),
  CreateCollection: (_, isHarmless) => ({ name: isHarmless ? '' : 'made-by-an-intruder' }),
  RegisterMcpServer: (_, isHarmless) => ({
    name: isHarmless ? '' : 'made-by-an-intruder',
    url: 'https://mcp.example.com/',
    enabled: false,
  }),
  ExposePort: (_, isHarmless) => ({ port: isHarmless ? 0 : 8080 }),
  CreatePreviewUrl: () => ({ port: 8080 }),
  SetSandboxNetwork: () => ({ networkMode: 'deny' }),
  ResizeSandbox: () => ({ cpuLimit: 2 }),
  UpdateOtlpSettings: (_, isHarmless) => ({
    endpoint: isHarmless ? 'no address' : 'https://intruder.example',
  }),
  ChatCompletion: () => ({ model: 'local/echo', messages: [{ role: 'user', content: 'hi' }] }),
  CreateMessage: () => ({ model: 'local/echo', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }),
  CountMessageTokens: () => ({ model: 'local/echo', messages: [{ role: 'user', content: 'hi' }] }),
};
