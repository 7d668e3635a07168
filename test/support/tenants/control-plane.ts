import { hkdfSync } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Role } from '../../../src/api/endpoint.ts';

/** The control plane of a managed instance, as the instance knows it. */
export const CONTROL_PLANE = { instance: 'inst_test', secret: 'a secret between control plane and instance' };

/** A token that signs a person in who has this role in the instance's organization. */
export function exchangeToken(login: string, role: Role): Promise<string> {
  const key = hkdfSync('sha256', CONTROL_PLANE.secret, '', 'svc managed-instance exchange v1', 32);
  return new SignJWT({ email: `${login}@example.com`, org: 'org_of_the_control_plane', role, name: login })
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience(CONTROL_PLANE.instance)
    .setSubject(`control-plane:${login}`)
    .setJti(crypto.randomUUID())
    .setIssuedAt()
    .setExpirationTime('60s')
    .sign(new Uint8Array(key));
}
