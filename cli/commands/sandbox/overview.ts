import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { formatBytes, MIB } from '../../../src/kit/bytes.ts';
import { formatDuration } from '../../../src/kit/duration.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc sandbox overview`: counts and use of all sandboxes. */
export const overview = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  examples: ['svc sandbox overview', 'svc sandbox overview --json'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const { overview: sum = {} } = await client.call(sandboxLifecycle.GetSandboxOverview);
    if (json) {
      showJson(cli, sum);
      return undefined;
    }
    showFields(cli, [
      [
        'sandboxes',
        `${sum.runningInstances ?? 0} running, ${sum.totalInstances ?? 0} in all, ${sum.maxSandboxes ?? 0} at most`,
      ],
      ['backend', `${sum.backend ?? ''}${sum.healthy === false ? ' (not healthy)' : ''}`],
      ['cpu', `${(sum.aggregateCpuPercent ?? 0).toFixed(1)} %`],
      ['memory', formatBytes(Number(sum.aggregateMemoryUsage ?? 0))],
      [
        'network',
        `${formatBytes(Number(sum.aggregateNetworkRxBytes ?? 0))} in, ${formatBytes(Number(sum.aggregateNetworkTxBytes ?? 0))} out`,
      ],
      ['processes', (sum.aggregatePids ?? 0).toString()],
      [
        'commands',
        `${sum.totalExecutions ?? 0}, ${formatDuration(sum.avgExecutionDurationMs ?? 0)} on average`,
      ],
      ['most of one sandbox', `${sum.maxCpu ?? 0} cores, ${formatBytes(Number(sum.maxMemoryMb ?? 0) * MIB)}`],
    ]);
    return undefined;
  },
});
