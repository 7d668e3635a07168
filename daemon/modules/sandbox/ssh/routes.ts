import { sandboxSsh } from '../../../../src/api/sandbox/ssh.ts';
import type { App } from '../../../app.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { connectionString, publicAddress } from './address.ts';
import type { SshGrants } from './grants.ts';
import type { SshKeys } from './keys.ts';
import type { SshServer } from './server/index.ts';
import type { SshSwitch } from './switch.ts';
import { DEFAULT_MINUTES, type SshTokens } from './tokens.ts';
import { toInfo, toKey, toToken } from './wire.ts';

/** What the operations call. */
export interface SshServices {
  readonly app: App;
  readonly lifecycle: LifecycleService;
  readonly server: SshServer;
  readonly tokens: SshTokens;
  readonly grants: SshGrants;
  readonly keys: SshKeys;
  readonly toggle: SshSwitch;
}

/** The operations on SSH. */
export function sshRoutes({ app, lifecycle, server, tokens, grants, keys, toggle }: SshServices): Route[] {
  const addressFor = async (request: Request) => {
    const state = await server.state();
    return { state, address: publicAddress(app.config, state, new URL(request.url).hostname) };
  };
  return implement(sandboxSsh, {
    GetSandboxSSHInfo: async ({ caller, params, request }) => {
      const box = lifecycle.get(caller.tenant, params.sandboxId);
      const { state, address } = await addressFor(request);
      return toInfo(box, state, address);
    },
    SetSandboxSSH: async ({ caller, params, body }) => {
      const box = await toggle.set(caller, params.sandboxId, body.enabled);
      return { enabled: box.config.sshEnabled };
    },
    GrantSandboxSSHAccess: ({ caller, params, body }) => {
      grants.grant(caller, params.sandboxId, body.userId, body.grantedBy);
      return { success: true };
    },
    RevokeSandboxSSHAccess: ({ caller, params }) => {
      grants.revoke(caller, params.sandboxId, params.userId);
      return { success: true };
    },
    CreateSshToken: async ({ caller, params, query, body, request }) => {
      const minutes = body?.expiresInMinutes ?? query.expiresInMinutes ?? DEFAULT_MINUTES;
      const { address } = await addressFor(request);
      const { row, secret } = tokens.create(caller, params.sandboxId, minutes);
      return { ...toToken(row, connectionString(secret, address)), token: secret };
    },
    ListSshTokens: async ({ caller, params, request }) => {
      const { address } = await addressFor(request);
      const rows = tokens.list(caller.tenant, params.sandboxId);
      return { tokens: rows.map((row) => toToken(row, connectionString('<token>', address))) };
    },
    RevokeSshToken: ({ caller, params }) => {
      tokens.revoke(caller, params.sandboxId, params.tokenId);
      return {};
    },
    ListSSHKeys: ({ caller, query }) => ({ keys: keys.list(caller, query.userId).map(toKey) }),
    AddSSHKey: async ({ caller, body }) => ({ key: toKey(await keys.add(caller, body)) }),
    DeleteSSHKey: ({ caller, params }) => {
      keys.remove(caller, Number(params.keyId));
      return { success: true, message: 'The key lets nobody in any more.' };
    },
  });
}
