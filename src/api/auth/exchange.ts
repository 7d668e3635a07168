import { endpoint, type Group } from '../endpoint.ts';
import { fields, model, t } from '../schema.ts';
import { UserWithOrganizations } from './users.ts';

/** Sign-in of people whom a control plane sends to the instance that it manages. */
export const exchange = {
  ExchangeToken: endpoint({
    spec: 'extra',
    tag: 'Sign-in',
    id: 'ExchangeToken',
    method: 'GET',
    path: '/auth/exchange',
    summary: 'Sign in by a token of the control plane; browsers are sent on to the dashboard',
    query: fields({
      token: t.String({
        description:
          'A JWT (HS256, at most 60 s) with aud (the instance id), sub, email, org, role, jti, iat and exp.',
      }),
    }),
    response: model('ExchangeTokenResponse', {
      success: t.Boolean(),
      user: UserWithOrganizations,
      sessionToken: t.String(),
    }),
    access: 'public',
  }),
} satisfies Group;
