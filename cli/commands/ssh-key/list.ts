import { sandboxSsh } from '../../../src/api/sandbox/ssh.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

/** `svc sandbox ssh-key list`. */
export const list = verb<[], { user?: string; json?: true }>({
  configure: (command) =>
    command.option('--user <id>', 'Keys of another member, for admins').option('--json', 'Print JSON'),
  examples: ['svc sandbox ssh-key list'],
  async run(cli, _, { user: userId, json }) {
    const client = await cli.client();
    const { keys: rows = [] } = await client.call(sandboxSsh.ListSSHKeys, { query: { userId } });
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none: 'There are no SSH keys. Add yours: svc sandbox ssh-key add',
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'NAME', text: ({ name }) => name },
        { title: 'TYPE', text: ({ keyType }) => keyType },
        { title: 'FINGERPRINT', text: ({ fingerprint }) => fingerprint },
        {
          title: 'LAST USED',
          text: ({ lastUsedAt }) => relativeTime(lastUsedAt) || 'never',
          raw: ({ lastUsedAt }) => lastUsedAt,
        },
      ],
    });
    return undefined;
  },
});
