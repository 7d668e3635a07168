import { ROLES, type Role } from '../../../../src/api/endpoint.ts';
import type { Caller } from '../../../http/route.ts';

/** What this module must know of people. It comes from outside: who belongs where is not this module's. */
export interface People {
  /** The role that a user, or an API key that is no person's, has in a tenant now; undefined when none. */
  roleOf(tenant: string, user: string): Role | undefined;
  /** The user whom an API key belongs to; any other id is itself. */
  userOf(tenant: string, actor: string): string;
}

/** Whom things of a caller belong to: the person, or the API key when it is no person's. */
export function userOf(caller: Caller): string {
  return caller.userId ?? caller.actor;
}

/** Whether a role may do what another one may. */
export function atLeast(role: Role | undefined, need: Role): boolean {
  return role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(need);
}
