import { snapshots } from '../../../src/api/sandbox/snapshots.ts';
import { formatBytes } from '../../../src/kit/bytes.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

/** `svc snapshot get`. */
export const get = verb<[name: string], { json?: true }>({
  configure: (command) =>
    command.argument('<name>', 'Id or name of a snapshot').option('--json', 'Print JSON'),
  examples: ['svc snapshot get ready'],
  async run(cli, [name], { json }) {
    const client = await cli.client();
    const found = await client.call(snapshots.GetSnapshot, { params: { snapshotId: name } });
    if (json) {
      showJson(cli, found);
      return undefined;
    }
    const when = (at: string | undefined) => at && `${at} (${relativeTime(at)})`;
    showFields(cli, [
      ['id', found.id],
      ['name', found.name],
      ['state', found.state],
      ['reason', found.errorReason],
      ['image', found.imageName],
      ['sandbox', found.sourceSandboxId],
      ['size', found.size && formatBytes(Number(found.size))],
      ['created', when(found.createdAt)],
      ['used', when(found.lastUsedAt)],
    ]);
    return undefined;
  },
});
