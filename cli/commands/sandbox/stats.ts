import type { Output } from '../../../src/api/endpoint.ts';
import { sandboxMetrics } from '../../../src/api/sandbox/metrics.ts';
import { formatBytes } from '../../../src/kit/bytes.ts';
import type { Cli } from '../../cli.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

const WATCH_MS = 2_000;

type Stats = NonNullable<Output<typeof sandboxMetrics.GetSandboxStats>['stats']>;

/** `svc sandbox stats`: what a sandbox uses. */
export const stats = verb<[name: string], { watch?: true; json?: true }>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .option('-w, --watch', 'Measure every 2 seconds until Ctrl-C')
      .option('--json', 'Print JSON, one line a measurement with --watch'),
  examples: ['svc sandbox stats box', 'svc sandbox stats box --watch', 'svc sandbox stats box --json'],
  async run(cli, [name], { watch, json }) {
    const client = await cli.client();
    const measure = async () =>
      (await client.call(sandboxMetrics.GetSandboxStats, { params: { sessionId: name } })).stats ?? {};
    if (!watch) {
      const measured = await measure();
      if (json) showJson(cli, measured);
      else showFields(cli, fieldsOf(measured));
      return undefined;
    }
    for (;;) {
      const measured = await measure();
      cli.terminal.print(json ? JSON.stringify(measured) : lineOf(cli, measured));
      await Bun.sleep(WATCH_MS);
    }
  },
});

function fieldsOf(stats: Stats): Array<readonly [string, string | undefined]> {
  return [
    ['cpu', percent(stats.cpuPercent)],
    [
      'memory',
      `${bytes(stats.memoryUsage)} of ${bytes(stats.memoryLimit)} (${percent(stats.memoryPercent)})`,
    ],
    ['network', `${bytes(stats.networkRxBytes)} in, ${bytes(stats.networkTxBytes)} out`],
    ['disk', `${bytes(stats.blockRead)} read, ${bytes(stats.blockWrite)} written`],
    ['processes', stats.pids?.toString()],
  ];
}

function lineOf(cli: Cli, stats: Stats): string {
  const values = fieldsOf(stats).map(([name, value]) =>
    cli.terminal.out.isTty ? `${name} ${value}` : value,
  );
  return values.join(cli.terminal.out.isTty ? '  ' : '\t');
}

function percent(value: number | undefined): string {
  return `${(value ?? 0).toFixed(1)} %`;
}

function bytes(value: string | undefined): string {
  return formatBytes(Number(value ?? 0));
}
