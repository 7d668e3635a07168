import { sandboxSsh } from '../../../src/api/sandbox/ssh.ts';
import { MINUTE_MS } from '../../../src/kit/time.ts';
import { duration } from '../../args.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc sandbox ssh-token create`: prints the command that connects, the only time that its token is shown. */
export const create = verb<[name: string], { expires?: number; json?: true }>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .option(
        '--expires <duration>',
        'How long it can be used to log in: 1m to 24h; 60m when absent',
        duration,
      )
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox ssh-token create box', 'svc sandbox ssh-token create box --expires 8h'],
  async run(cli, [name], { expires, json }) {
    const client = await cli.client();
    const body = { expiresInMinutes: expires === undefined ? undefined : Math.ceil(expires / MINUTE_MS) };
    const made = await client.call(sandboxSsh.CreateSshToken, { params: { sandboxId: name }, body });
    if (json) showJson(cli, made);
    else cli.terminal.print(made.connectionString ?? '');
    cli.terminal.note(
      `Whoever has this gets in until ${made.expiresAt}. Revoke it: svc sandbox ssh-token rm ${name} ${made.id}`,
    );
    return undefined;
  },
});
