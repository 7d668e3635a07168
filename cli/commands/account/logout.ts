import { session } from '../../../src/api/auth/session.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { verb } from '../../verb.ts';

/** `svc logout`: ends the session and forgets the credential. */
export const logout = verb<[], { local?: true }>({
  about: 'An API key is only forgotten: it stays good until it is revoked (svc key revoke).',
  configure: (command) => command.option('--local', 'Forget it here without telling the daemon'),
  examples: ['svc logout', 'svc logout --context work --local'],
  async run(cli, _, { local }) {
    const name = cli.flags.context ?? cli.contexts.active();
    const credential = name === undefined ? undefined : cli.contexts.credential(name);
    if (!name || !credential) throw fail('failed_precondition', { message: 'You are not signed in.' });
    if (credential.cookie && !local) {
      const client = await cli.clientFor(cli.contexts.get(name).apiUrl, credential);
      await client.call(session.SignOut);
    }
    cli.contexts.forget(name);
    cli.terminal.note(`Signed out of ${name}.`);
    return undefined;
  },
});
