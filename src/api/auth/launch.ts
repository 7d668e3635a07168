import { endpoint, type Group } from '../endpoint.ts';
import { fields, model, t, timestamp } from '../schema.ts';
import { UserWithOrganizations } from './users.ts';

const here = { spec: 'extra', tag: 'Sign-in' } as const;

/** The address that opens the dashboard once, without a password. */
export const launch = {
  CreateLaunchUrl: endpoint({
    ...here,
    id: 'CreateLaunchUrl',
    method: 'POST',
    path: '/v1/auth/launch',
    summary: 'Make an address that opens the dashboard once, within 30 minutes',
    response: model('CreateLaunchUrlResponse', { url: t.String(), expiresAt: timestamp() }),
    access: 'admin',
  }),
  OpenLaunchUrl: endpoint({
    ...here,
    id: 'OpenLaunchUrl',
    method: 'GET',
    path: '/auth/launch',
    summary: 'Sign in by a launch URL; browsers are sent on to the dashboard',
    query: fields({ token: t.String() }),
    response: model('OpenLaunchUrlResponse', {
      success: t.Boolean(),
      user: UserWithOrganizations,
      sessionToken: t.String(),
    }),
    access: 'public',
  }),
} satisfies Group;
