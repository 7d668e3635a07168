import { sandboxCommand } from '../../../src/api/sandbox/command.ts';
import { fail } from '../../../src/errors/app-error.ts';
import type { Cli } from '../../cli.ts';
import type { RemoteCommand } from '../../pty/run.ts';

/** Starts a command that goes on without this process, and prints its id. */
export async function startInBackground(cli: Cli, remote: Omit<RemoteCommand, 'input'>): Promise<undefined> {
  const client = await cli.client();
  const events = client.stream(sandboxCommand.ExecuteCommand, {
    params: { sandboxId: remote.sandbox },
    body: {
      command: remote.command ?? '',
      background: true,
      cwd: remote.cwd,
      uid: remote.uid,
      envs: remote.env,
      timeout: remote.timeoutMs,
    },
  });
  for await (const { data } of events) {
    const event = JSON.parse(data) as { type?: string; text?: string };
    if (event.type !== 'init') continue;
    cli.terminal.print(event.text ?? '');
    if (cli.terminal.err.isTty)
      cli.terminal.note(`Its output: svc sandbox logs ${remote.sandbox} ${event.text} -f`);
    return undefined;
  }
  throw fail('unreachable', { url: client.url, why: 'the stream ended before the command had an id' });
}
