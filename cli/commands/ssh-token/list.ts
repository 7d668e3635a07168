import { sandboxSsh } from '../../../src/api/sandbox/ssh.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

/** `svc sandbox ssh-token list`: the tokens that are still good. */
export const list = verb<[name: string], { json?: true }>({
  configure: (command) =>
    command.argument('<name>', 'Id or name of a sandbox').option('--json', 'Print JSON'),
  examples: ['svc sandbox ssh-token list box'],
  async run(cli, [name], { json }) {
    const client = await cli.client();
    const { tokens: rows } = await client.call(sandboxSsh.ListSshTokens, { params: { sandboxId: name } });
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none: `There are no SSH tokens. Make one: svc sandbox ssh-token create ${name}`,
      columns: [
        { title: 'ID', text: ({ id }) => id },
        {
          title: 'EXPIRES',
          text: ({ expiresAt }) => relativeTime(expiresAt),
          raw: ({ expiresAt }) => expiresAt,
        },
      ],
    });
    return undefined;
  },
});
