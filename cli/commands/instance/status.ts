import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { system } from '../../../src/api/system/system.ts';
import type { Client } from '../../../src/client/client.ts';
import { RemoteError } from '../../../src/client/remote-error.ts';
import { AppError } from '../../../src/errors/app-error.ts';
import { formatDuration } from '../../../src/kit/duration.ts';
import { dataDir } from '../../context/paths.ts';
import { runningDaemon } from '../../instance/record.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

const ANSWER_WITHIN_MS = 5_000;

/** `svc status`: whether the daemon answers, and what it does. Exit code 3 when it does not. */
export const status = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  examples: ['svc status', 'svc status --json', 'svc status >/dev/null || svc up'],
  async run(cli, _, { json }) {
    const { url, source } = cli.connection();
    const client = await cli.client();
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const health = await client.call(system.Healthz, {}, { signal });
    const record = runningDaemon(dataDir(cli.env));
    const local = record?.url === url ? record : undefined;
    const { overview, refusal } = await overviewOf(client);
    const uptimeMs = local && Date.now() - local.startedAt;
    if (json) {
      showJson(cli, {
        url,
        status: health.status,
        version: health.version,
        pid: local?.pid,
        uptimeMs,
        overview,
      });
      return undefined;
    }
    showFields(cli, [
      ['status', health.status],
      ['url', `${url} (${source})`],
      ['version', health.version],
      ['pid', local?.pid.toString()],
      ['uptime', uptimeMs === undefined ? undefined : formatDuration(uptimeMs)],
      ['driver', overview?.backend],
      [
        'sandboxes',
        overview && `${overview.runningInstances ?? 0} running, ${overview.totalInstances ?? 0} in all`,
      ],
      ['data', local && dataDir(cli.env)],
    ]);
    if (refusal) cli.terminal.note(`Sandboxes are not shown: ${refusal}`);
    return undefined;
  },
});

/** The sandboxes, when the caller may see them. */
async function overviewOf(client: Client) {
  try {
    const { overview } = await client.call(sandboxLifecycle.GetSandboxOverview);
    return { overview, refusal: undefined };
  } catch (error) {
    if (error instanceof RemoteError || error instanceof AppError)
      return { overview: undefined, refusal: error.message };
    throw error;
  }
}
