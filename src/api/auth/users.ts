import { enumeration, model, t, timestamp } from '../schema.ts';

/** What a member may do, as it stands on the wire. */
export const OrganizationRole = enumeration('OrganizationRole', [
  'ORGANIZATION_ROLE_UNSPECIFIED',
  'ORGANIZATION_ROLE_OWNER',
  'ORGANIZATION_ROLE_ADMIN',
  'ORGANIZATION_ROLE_MEMBER',
  'ORGANIZATION_ROLE_VIEWER',
]);

/** A person. */
export const User = model('User', {
  id: t.String(),
  email: t.String(),
  name: t.String(),
  avatarUrl: t.String(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});

/** A team that a person belongs to, with the role there. */
export const Organization = model('Organization', {
  id: t.String(),
  slug: t.String(),
  name: t.String(),
  role: OrganizationRole,
});

/** A person and their teams. */
export const UserWithOrganizations = model('UserWithOrganizations', {
  user: User,
  organizations: t.Array(Organization),
});
