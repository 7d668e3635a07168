import { endpoint, type Group } from '../endpoint.ts';
import { empty, fields, ids, int32, int64, model, object, t, timestamp } from '../schema.ts';

/** A public key that a user connects with. */
export const SSHKey = model('SSHKey', {
  id: int64(),
  userId: t.String(),
  name: t.String(),
  fingerprint: t.String(),
  keyType: t.String(),
  lastUsedAt: timestamp(),
  createdAt: timestamp(),
});

const expiresInMinutes = int32({ minimum: 1, maximum: 1440, description: '60 when absent.' });

/** A temporary credential: the user name of an SSH connection. The token is in the first answer only. */
export const SshToken = object('SshToken', {
  id: t.String(),
  token: t.String(),
  expiresAt: timestamp(),
  expiresInMinutes: int32(),
  connectionString: t.String(),
});

const here = { spec: 'agents', tag: 'Sandbox SSH' } as const;

/** SSH into sandboxes, and the keys and tokens for it. */
export const sandboxSsh = {
  GetSandboxSSHInfo: endpoint({
    ...here,
    id: 'GetSandboxSSHInfo',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/ssh/info',
    summary: 'Get where and how to connect by SSH',
    params: ids('sandboxId'),
    query: fields({ tenantId: t.String() }),
    response: model('GetSandboxSSHInfoResponse', {
      enabled: t.Boolean(),
      connectionString: t.String(),
      host: t.String(),
      port: int32(),
      hostFingerprint: t.String(),
      user: t.String({ description: 'The user name for connections with a registered key.' }),
      hostKey: t.String({ description: 'The public host key, as it stands in known_hosts behind the host.' }),
      message: t.String({ description: 'Why it is not enabled; empty when it is.' }),
    }),
    access: 'viewer',
  }),
  SetSandboxSSH: endpoint({
    ...here,
    spec: 'extra',
    id: 'SetSandboxSSH',
    method: 'PUT',
    path: '/v1/sandbox/{sandboxId}/ssh',
    summary: 'Turn SSH into a sandbox on or off',
    params: ids('sandboxId'),
    body: object('SetSandboxSSHRequest', { enabled: t.Boolean() }),
    response: object('SetSandboxSSHResponse', { enabled: t.Boolean() }),
    access: 'member',
  }),
  GrantSandboxSSHAccess: endpoint({
    ...here,
    id: 'GrantSandboxSSHAccess',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/ssh/access',
    summary: 'Let a user in by SSH',
    params: ids('sandboxId'),
    body: model('AgentsServiceGrantSandboxSSHAccessBody', {
      tenantId: t.String(),
      userId: t.String(),
      grantedBy: t.String(),
    }),
    response: model('GrantSandboxSSHAccessResponse', { success: t.Boolean() }),
    access: 'member',
  }),
  RevokeSandboxSSHAccess: endpoint({
    ...here,
    id: 'RevokeSandboxSSHAccess',
    method: 'DELETE',
    path: '/v1/sandbox/{sandboxId}/ssh/access/{userId}',
    summary: "Withdraw a user's SSH access",
    params: ids('sandboxId', 'userId'),
    query: fields({ tenantId: t.String() }),
    response: model('RevokeSandboxSSHAccessResponse', { success: t.Boolean() }),
    access: 'member',
  }),
  CreateSshToken: endpoint({
    ...here,
    spec: 'guide',
    id: 'CreateSshToken',
    method: 'POST',
    path: '/v1/sandbox/instances/{sandboxId}/ssh-token',
    summary: 'Issue a temporary SSH token',
    params: ids('sandboxId'),
    query: fields({ expiresInMinutes }),
    body: model('CreateSshTokenRequest', { expiresInMinutes }),
    response: SshToken,
    access: 'member',
  }),
  ListSshTokens: endpoint({
    ...here,
    spec: 'guide',
    id: 'ListSshTokens',
    method: 'GET',
    path: '/v1/sandbox/instances/{sandboxId}/ssh-tokens',
    summary: 'List the SSH tokens that are still good',
    params: ids('sandboxId'),
    response: object('ListSshTokensResponse', {
      tokens: t.Array(t.Omit(SshToken, ['token'], { $id: 'SshTokenRecord' })),
    }),
    access: 'viewer',
  }),
  RevokeSshToken: endpoint({
    ...here,
    spec: 'guide',
    id: 'RevokeSshToken',
    method: 'DELETE',
    path: '/v1/sandbox/instances/{sandboxId}/ssh-tokens/{tokenId}',
    summary: 'Revoke an SSH token',
    params: ids('sandboxId', 'tokenId'),
    response: empty,
    status: 204,
    access: 'member',
  }),
  ListSSHKeys: endpoint({
    ...here,
    id: 'ListSSHKeys',
    method: 'GET',
    path: '/v1/settings/ssh-keys',
    summary: 'List the SSH keys of a user',
    query: fields({ tenantId: t.String(), userId: t.String() }),
    response: model('ListSSHKeysResponse', { keys: t.Array(SSHKey) }),
    access: 'viewer',
  }),
  AddSSHKey: endpoint({
    ...here,
    id: 'AddSSHKey',
    method: 'POST',
    path: '/v1/settings/ssh-keys',
    summary: 'Store a public key',
    body: model('AddSSHKeyRequest', {
      tenantId: t.String(),
      userId: t.String(),
      name: t.String(),
      publicKey: t.String(),
    }),
    response: model('AddSSHKeyResponse', { key: SSHKey }),
    access: 'member',
  }),
  DeleteSSHKey: endpoint({
    ...here,
    id: 'DeleteSSHKey',
    method: 'DELETE',
    path: '/v1/settings/ssh-keys/{keyId}',
    summary: 'Remove a public key',
    params: t.Object({ keyId: int64() }),
    query: fields({ tenantId: t.String() }),
    response: model('DeleteSSHKeyResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
} satisfies Group;
