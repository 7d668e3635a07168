import { endpoint, type Group } from '../endpoint.ts';
import { model, t, timestamp } from '../schema.ts';
import { UserWithOrganizations } from './users.ts';

const here = { spec: 'auth', tag: 'Browser sessions' } as const;

/** The session that a cookie stands for. */
export const session = {
  GetSession: endpoint({
    ...here,
    id: 'GetSession',
    method: 'GET',
    path: '/v1/auth/session',
    summary: 'Tell who is signed in',
    response: model('GetSessionResponse', { authenticated: t.Boolean(), user: UserWithOrganizations }),
    access: 'public',
  }),
  RefreshSession: endpoint({
    ...here,
    id: 'RefreshSession',
    method: 'POST',
    path: '/v1/auth/refresh',
    summary: 'Make the session last longer',
    response: model('RefreshSessionResponse', { success: t.Boolean(), expiresAt: timestamp() }),
    access: 'viewer',
  }),
  SignOut: endpoint({
    ...here,
    id: 'SignOut',
    method: 'POST',
    path: '/v1/auth/signout',
    summary: 'End the session',
    response: model('SignOutResponse', { success: t.Boolean() }),
    access: 'public',
  }),
} satisfies Group;
