import type { User, UserWithOrganizations } from '../../../src/api/auth/users.ts';
import type { Role } from '../../../src/api/endpoint.ts';
import type { Static } from '../../../src/api/schema.ts';
import { rfc3339 } from '../../../src/kit/time.ts';
import { toWireRole } from './roles.ts';
import type { OrganizationRow, UserRow } from './tables.ts';
import type { Belonging, UserStore } from './user-store.ts';

/** A person as it stands on the wire. */
export function toUser({ id, email, name, avatarUrl, createdAt, updatedAt }: UserRow): Static<typeof User> {
  return { id, email, name, avatarUrl, createdAt: rfc3339(createdAt), updatedAt: rfc3339(updatedAt) };
}

/** A person with the organizations; the one given comes first, which is that of the session. */
export function toUserWithOrganizations(
  users: UserStore,
  user: UserRow,
  tenant?: string,
): Static<typeof UserWithOrganizations> {
  const belongings = users.belongings(user.id);
  const [own, others] = [
    belongings.filter(({ organization }) => organization.id === tenant),
    belongings.filter(({ organization }) => organization.id !== tenant),
  ];
  return { user: toUser(user), organizations: [...own, ...others].map(toOrganization) };
}

/** Whoever is no person: the operator of the instance, or a key of the team. */
export function toNobody(
  organization: OrganizationRow | undefined,
  role: Role,
): Static<typeof UserWithOrganizations> {
  const organizations = organization ? [toOrganization({ organization, role })] : [];
  return { user: { id: '', email: '', name: 'Operator', avatarUrl: '' }, organizations };
}

function toOrganization({ organization: { id, slug, name }, role }: Belonging) {
  return { id, slug, name, role: toWireRole(role) };
}
