import { endpoint, type Group } from '../endpoint.ts';
import { enumeration, fields, model, t } from '../schema.ts';
import { UserWithOrganizations } from './users.ts';

/** Who keeps the accounts: this instance, or a hosted provider. */
export const AuthMode = enumeration('AuthMode', [
  'AUTH_MODE_UNSPECIFIED',
  'AUTH_MODE_CLOUD',
  'AUTH_MODE_SELF_HOSTED',
]);

const here = { spec: 'auth', tag: 'Sign-in' } as const;

/** Ways to sign in. */
export const login = {
  GetAuthMode: endpoint({
    ...here,
    id: 'GetAuthMode',
    method: 'GET',
    path: '/v1/auth/mode',
    summary: 'Tell how people sign in here, and whether there is anybody yet',
    response: model('GetAuthModeResponse', { mode: AuthMode, hasUsers: t.Boolean() }),
    access: 'public',
  }),
  Register: endpoint({
    ...here,
    id: 'Register',
    method: 'POST',
    path: '/v1/auth/register',
    summary: 'Register the first owner',
    headers: fields({
      'x-svc-setup-token': t.String({
        description:
          'From the log of the instance; for a registration that does not come from its own machine.',
      }),
    }),
    body: model('RegisterRequest', { email: t.String(), password: t.String(), name: t.String() }),
    response: model('RegisterResponse', {
      success: t.Boolean(),
      user: UserWithOrganizations,
      sessionToken: t.String(),
    }),
    access: 'public',
  }),
  Login: endpoint({
    ...here,
    id: 'Login',
    method: 'POST',
    path: '/auth/login',
    summary: 'Sign in by email and password',
    aliases: [{ method: 'POST', path: '/v1/auth/login' }],
    body: model('LoginRequest', { email: t.String(), password: t.String() }),
    response: model('LoginResponse', {
      success: t.Boolean(),
      user: UserWithOrganizations,
      sessionToken: t.String(),
    }),
    access: 'public',
  }),
  RequestMagicLink: endpoint({
    ...here,
    id: 'RequestMagicLink',
    method: 'POST',
    path: '/v1/auth/magic-link',
    summary: 'Send a one-time link to sign in by',
    body: model('RequestMagicLinkRequest', { email: t.String() }),
    response: model('RequestMagicLinkResponse', { success: t.Boolean(), message: t.String() }),
    access: 'public',
  }),
  VerifyMagicLink: endpoint({
    ...here,
    id: 'VerifyMagicLink',
    method: 'GET',
    path: '/auth/verify-magic-link',
    summary: 'Sign in by a one-time link',
    aliases: [{ method: 'POST', path: '/v1/auth/verify-magic-link' }],
    query: fields({ token: t.String() }),
    response: model('VerifyMagicLinkResponse', {
      success: t.Boolean(),
      user: UserWithOrganizations,
      sessionToken: t.String(),
    }),
    body: model('VerifyMagicLinkRequest', {
      token: t.String({ description: 'Of the POST alias; the GET carries it in the query.' }),
    }),
    access: 'public',
  }),
  GetAuthURL: endpoint({
    ...here,
    id: 'GetAuthURL',
    method: 'POST',
    path: '/v1/auth/sso-url',
    summary: 'Get the address to sign in at with a hosted provider',
    body: model('GetAuthURLRequest', {
      provider: t.String(),
      connectionId: t.String(),
      redirectUri: t.String(),
      state: t.String(),
    }),
    response: model('GetAuthURLResponse', { authUrl: t.String() }),
    access: 'public',
  }),
  Authenticate: endpoint({
    ...here,
    id: 'Authenticate',
    method: 'POST',
    path: '/v1/auth/authenticate',
    summary: 'Sign in with the code of a hosted provider',
    body: model('AuthenticateRequest', { code: t.String(), state: t.String() }),
    response: model('AuthenticateResponse', {
      success: t.Boolean(),
      user: UserWithOrganizations,
      sessionToken: t.String(),
    }),
    access: 'public',
  }),
} satisfies Group;
