import { sandboxCommand } from '../../../src/api/sandbox/command.ts';
import { sandboxHistory } from '../../../src/api/sandbox/history.ts';
import type { Client } from '../../../src/client/client.ts';
import { fail } from '../../../src/errors/app-error.ts';
import type { Cli } from '../../cli.ts';
import { verb } from '../../verb.ts';

const POLL_MS = 500;
const CURSOR_HEADER = 'execd-commands-tail-cursor';

/** `svc sandbox logs`: what a command printed, stdout and stderr together. */
export const logs = verb<[name: string, commandId: string | undefined], { follow?: true }>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('[command-id]', 'A command; the last one when absent')
      .option('-f, --follow', 'Go on until the command ends, and end with its exit code'),
  examples: ['svc sandbox logs box', 'svc sandbox logs box cmd_01k8... -f'],
  async run(cli, [name, commandId], { follow }) {
    const client = await cli.client();
    const params = { sandboxId: name, cmdId: commandId ?? (await lastCommand(cli, client, name)) };
    let cursor = await printFrom(cli, client, params, '0');
    if (!follow) return undefined;
    for (;;) {
      const status = await client.call(sandboxCommand.GetCommandStatus, { params });
      cursor = await printFrom(cli, client, params, cursor);
      if (!status.running) return status.exit_code ?? 0;
      await Bun.sleep(POLL_MS);
    }
  },
});

/** Prints what came after the cursor; returns the next one. */
async function printFrom(
  cli: Cli,
  client: Client,
  params: { sandboxId: string; cmdId: string },
  cursor: string,
): Promise<string> {
  const response = await client.open(sandboxCommand.GetCommandLogs, { params, query: { cursor } });
  for await (const bytes of response.body ?? []) {
    if (!cli.terminal.out.write(bytes)) await cli.terminal.out.drained();
  }
  return response.headers.get(CURSOR_HEADER) ?? cursor;
}

async function lastCommand(cli: Cli, client: Client, name: string): Promise<string> {
  const { executions = [] } = await client.call(sandboxHistory.ListSandboxExecutions, {
    params: { sandboxId: name },
    query: { limit: 1 },
  });
  const [last] = executions;
  if (!last?.id)
    throw fail('failed_precondition', { message: `Nothing has run in the sandbox ${name} yet.` });
  if (cli.terminal.err.isTty) cli.terminal.note(cli.terminal.err.style.dim(`${last.id}: ${last.command}`));
  return last.id;
}
