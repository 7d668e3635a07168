import { session } from '../../../src/api/auth/session.ts';
import type { Output } from '../../../src/api/endpoint.ts';
import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import type { Client } from '../../../src/client/client.ts';

/** Who a client is to its daemon; a key may stand for no person. */
export type Identity = Output<typeof session.GetSession>['user'];

/** Asks the daemon who calls. Errors: unauthenticated when it does not take the credential. */
export async function identify(client: Client): Promise<Identity> {
  const { authenticated, user } = await client.call(session.GetSession);
  if (authenticated && user?.user) return user;
  // Asking who is signed in is open to everybody; a key that stands for no person proves itself by a call.
  await client.call(sandboxLifecycle.ListSandboxInstances, { query: { limit: 1 } });
  return user;
}
