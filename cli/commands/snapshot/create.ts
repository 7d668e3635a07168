import { snapshots } from '../../../src/api/sandbox/snapshots.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

const POLL_MS = 100;

interface Options {
  sandbox?: string;
  image?: string;
  wait: boolean;
  json?: true;
}

/** `svc snapshot create`: prints the id of the new snapshot when it can be used. */
export const create = verb<[name: string], Options>({
  configure: (command) =>
    command
      .argument('<name>', 'Name of the snapshot')
      .option('--sandbox <name>', 'Sandbox, running or sleeping, whose files are kept')
      .option('--image <reference>', 'Image to keep as it is now')
      .option('--no-wait', 'Return before it can be used')
      .option('--json', 'Print JSON'),
  examples: [
    'svc snapshot create ready --sandbox box',
    'svc snapshot create base --image debian:12',
    'svc sandbox create --snapshot ready',
  ],
  about:
    'A sandbox goes on while its files are kept. Volumes that are mounted into it are no part of the snapshot.',
  async run(cli, [name], { sandbox, image, wait, json }) {
    const client = await cli.client();
    const body = { name, image, from_sandbox_id: sandbox };
    const made = await withSpinner(cli.terminal, `Making the snapshot ${name}`, async () => {
      let now = await client.call(snapshots.CreateSnapshot, { body });
      for (; wait && now.state === 'pending'; await Bun.sleep(POLL_MS))
        now = await client.call(snapshots.GetSnapshot, { params: { snapshotId: now.id } });
      return now;
    });
    if (made.state === 'error')
      throw fail('failed_precondition', { message: `${name} could not be made: ${made.errorReason}` });
    if (json) showJson(cli, made);
    else cli.terminal.print(made.id);
    if (cli.terminal.err.isTty) cli.terminal.note(`Start from it: svc sandbox create --snapshot ${name}`);
    return undefined;
  },
});
