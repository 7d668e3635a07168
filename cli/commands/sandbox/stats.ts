import { sandboxMetrics } from '../../../src/api/sandbox/metrics.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import type { Cli } from '../../cli.ts';
import { Redraw } from '../../ui/redraw.ts';
import { showFields, showJson, showList } from '../../ui/show.ts';
import { printable } from '../../ui/table.ts';
import { verb } from '../../verb.ts';
import { measureAll } from './measure-all.ts';
import { bytes, fieldsOf, liveLines, percent, type Stats } from './stats-view.ts';

/** Most measurements that the live view keeps: what fits beside the figures. */
const KEPT = 60;

interface Options {
  watch?: true;
  all?: true;
  json?: true;
}

/** `svc sandbox stats`: what a sandbox uses, or all of them. */
export const stats = verb<[name: string | undefined], Options>({
  configure: (command) =>
    command
      .argument('[name]', 'Id or name of a sandbox')
      .option('-w, --watch', 'Measure every 2 seconds until it stops or Ctrl-C')
      .option('-a, --all', 'All that run')
      .option('--json', 'Print JSON, one line a measurement with --watch'),
  about:
    'cpu is of one core: 200 % are two full cores. Memory is without the page cache that the kernel can drop at once.',
  examples: [
    'svc sandbox stats box',
    'svc sandbox stats box --watch',
    'svc sandbox stats --all',
    'svc sandbox stats box --watch --json | jq .cpuPercent',
  ],
  async run(cli, [name], { watch, all, json }) {
    if (all) return showAll(cli, name, watch, json);
    if (!name) throw invalid({ field: 'name', description: 'is required; or say --all' });
    if (watch) return showLive(cli, name, json);
    const client = await cli.client();
    const answer = await client.call(sandboxMetrics.GetMetrics, { params: { sandboxId: name } });
    if (json) showJson(cli, answer.stats ?? {});
    else showFields(cli, fieldsOf(answer.stats ?? {}));
    return undefined;
  },
});

async function showAll(cli: Cli, name?: string, watch?: true, json?: true): Promise<undefined> {
  if (name) throw invalid({ field: 'name', description: 'does not go with --all' });
  if (watch) throw invalid({ field: 'watch', description: 'is for one sandbox; for all: svc sandbox top' });
  const measured = await measureAll(await cli.client());
  if (json) {
    showJson(cli, Object.fromEntries(measured.map(({ id, stats }) => [id, stats])));
    return undefined;
  }
  showList(cli, {
    rows: measured,
    none: 'No sandbox runs.',
    columns: [
      { title: 'ID', text: ({ id }) => id },
      { title: 'NAME', text: ({ name }) => name },
      { title: 'CPU', text: ({ stats }) => percent(stats.cpuPercent), align: 'right' },
      { title: 'MEMORY', text: ({ stats }) => bytes(stats.memoryUsage), align: 'right' },
      { title: 'OF', text: ({ stats }) => bytes(stats.memoryLimit), align: 'right' },
      { title: 'NET IN', text: ({ stats }) => bytes(stats.networkRxBytes), align: 'right' },
      { title: 'NET OUT', text: ({ stats }) => bytes(stats.networkTxBytes), align: 'right' },
      { title: 'PROCESSES', text: ({ stats }) => stats.pids?.toString(), align: 'right' },
    ],
  });
  return undefined;
}

async function showLive(cli: Cli, name: string, json?: true): Promise<undefined> {
  const client = await cli.client();
  const { out, err } = cli.terminal;
  const redraw = new Redraw(out);
  const seen: Stats[] = [];
  for await (const { event, data } of client.stream(sandboxMetrics.WatchMetrics, {
    params: { sandboxId: name },
  })) {
    if (event === 'end') {
      const { state, reason } = JSON.parse(data) as { state: string; reason: string };
      if (err.isTty) cli.terminal.note(printable(`The sandbox is ${state}: ${reason}`));
      break;
    }
    const measured = JSON.parse(data) as Stats;
    if (json) cli.terminal.print(JSON.stringify(measured));
    else if (!out.isTty)
      cli.terminal.print(
        fieldsOf(measured)
          .map(([, value]) => value)
          .join('\t'),
      );
    else {
      seen.push(measured);
      if (seen.length > KEPT) seen.shift();
      redraw.show(liveLines(seen, out));
    }
  }
  return undefined;
}
