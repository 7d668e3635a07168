import { ROLES, type Role } from '../../../src/api/endpoint.ts';
import { fail, invalid } from '../../../src/errors/app-error.ts';
import type { Caller } from '../../http/route.ts';

const PREFIX = 'ORGANIZATION_ROLE_';

/** A role as it stands on the wire. */
export type WireRole = `${typeof PREFIX}${'UNSPECIFIED' | 'OWNER' | 'ADMIN' | 'MEMBER' | 'VIEWER'}`;

/** A role in its form on the wire. */
export function toWireRole(role: Role): WireRole {
  return `${PREFIX}${role.toUpperCase() as Uppercase<Role>}`;
}

/** A role from the wire; `member` when none is named. Errors: invalid_argument. */
export function fromWireRole(text: string | undefined): Role {
  if (text === undefined || text === `${PREFIX}UNSPECIFIED`) return 'member';
  const role = ROLES.find((one) => toWireRole(one) === text);
  if (!role)
    throw invalid({ field: 'role', description: `must be one of ${ROLES.map(toWireRole).join(', ')}` });
  return role;
}

/** Whether a role may do what another one may. */
export function atLeast(role: Role, need: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(need);
}

/** Errors: forbidden, naming the role that it takes. */
export function requireRole(caller: Caller, need: Role): void {
  if (!atLeast(caller.role, need)) throw fail('forbidden', { need });
}
