import { login as signIn } from '../../../src/api/auth/login.ts';
import { baseUrl, type Credential } from '../../../src/client/address.ts';
import type { Cli } from '../../cli.ts';
import { ask, askSecret, readStdin } from '../../ui/prompt.ts';
import { verb } from '../../verb.ts';
import { identify } from './identity.ts';

interface Options {
  email?: string;
}

/** `svc login`: proves who calls and keeps it. */
export const login = verb<[], Options>({
  about:
    'Keeps an API key (--api-key; - reads it from stdin), or asks for email and password and keeps the session.',
  configure: (command) => command.option('--email <email>', 'Email to sign in with; asked for when absent'),
  examples: [
    'svc login --api-url https://svc.example.com',
    'svc login --api-url https://svc.example.com --api-key - < key.txt',
    'svc login --context work --email me@example.com',
  ],
  async run(cli, _, { email }) {
    const place = cli.connection();
    const url = baseUrl(place.url);
    const credential = await obtain(cli, url, email);
    const identity = await identify(await cli.clientFor(url, credential));
    const name = cli.flags.context ?? place.context ?? contextName(cli, url);
    cli.contexts.save({ name, apiUrl: url });
    cli.contexts.remember(name, credential);
    cli.contexts.use(name);
    const who = identity?.user?.email ?? 'by API key';
    cli.terminal.note(`Signed in at ${url} (${who}). The context ${name} is active.`);
    return undefined;
  },
});

async function obtain(cli: Cli, url: string, email: string | undefined): Promise<Credential> {
  const { apiKey } = cli.flags;
  if (apiKey === '-') return { apiKey: await readStdin() };
  if (apiKey) return { apiKey };
  const client = await cli.clientFor(url);
  const body = {
    email: email ?? (await ask(cli.terminal, 'Email')),
    password: await askSecret(cli.terminal, 'Password'),
  };
  const response = await client.open(signIn.Login, { body });
  const [cookie = ''] = response.headers.getSetCookie();
  return { cookie: cookie.split(';')[0] };
}

/** A context of this address, else one named after its host. */
function contextName(cli: Cli, url: string): string {
  const known = cli.contexts.list().find(({ apiUrl }) => apiUrl === url);
  const { hostname } = new URL(url);
  const isLocal = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
  return known?.name ?? (isLocal ? 'local' : hostname);
}
