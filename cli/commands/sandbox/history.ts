import type { Output } from '../../../src/api/endpoint.ts';
import { sandboxMetrics } from '../../../src/api/sandbox/metrics.ts';
import { rfc3339, SECOND_MS } from '../../../src/kit/time.ts';
import { duration } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { graph, resample, type Value } from '../../ui/graph.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';
import { bytes, percent, type Stats } from './stats-view.ts';

const HEIGHT = 6;
/** Room for the scale at the left. */
const SCALE = 10;

type History = Output<typeof sandboxMetrics.GetMetricsHistory>;

/** `svc sandbox history`: what a sandbox used in the last two hours. */
export const history = verb<[name: string], { last?: number; json?: true }>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .option('--last <duration>', 'Only so far back, such as 10m', duration)
      .option('--json', 'Print JSON'),
  about: 'On a terminal it is a graph, in a pipe one line a point. Where it did not run there is a gap.',
  examples: [
    'svc sandbox history box',
    'svc sandbox history box --last 10m',
    'svc sandbox history box | cut -f1,2',
  ],
  async run(cli, [name], { last, json }) {
    const client = await cli.client();
    const query = last === undefined ? {} : { from: rfc3339(Date.now() - last) };
    const answer = await client.call(sandboxMetrics.GetMetricsHistory, {
      params: { sandboxId: name },
      query,
    });
    if (json) showJson(cli, answer);
    else if (cli.terminal.out.isTty && answer.points.length > 0) draw(cli, answer);
    else list(cli, answer.points);
    return undefined;
  },
});

function draw({ terminal }: Cli, { points, resolutionSeconds }: History): void {
  const { style, columns } = terminal.out;
  const steps = inSteps(points, resolutionSeconds * SECOND_MS);
  const width = Math.max(columns - SCALE - 1, 10);
  const section = (title: string, now: string, values: readonly Value[], most: number, top: string) => {
    terminal.print(`${style.bold(title)}  ${now}`);
    for (const [i, line] of graph(resample(values, width), most, HEIGHT).entries())
      terminal.print(
        `${style.dim((i === 0 ? top : i === HEIGHT - 1 ? '0' : '').padStart(SCALE))} ${style.cyan(line)}`,
      );
  };
  const latest = points.at(-1) ?? {};
  const cpu = steps.map((point) => point?.cpuPercent);
  const mostCpu = Math.max(100, ...cpu.map((value) => value ?? 0));
  section('cpu', percent(latest.cpuPercent), cpu, mostCpu, `${Math.round(mostCpu)} %`);
  const memory = steps.map((point) => point && Number(point.memoryUsage));
  const limit = Number(latest.memoryLimit) || Math.max(1, ...memory.map((value) => value ?? 0));
  section('memory', bytes(latest.memoryUsage), memory, limit, bytes(String(limit)));
  const used = Math.min(steps.length, width);
  const begin = relativeTime(points[0]?.timestamp);
  terminal.print(
    style.dim(`${' '.repeat(SCALE + 1)}${begin}${'now'.padStart(Math.max(used - begin.length, 4))}`),
  );
}

/** One place for each step of time from the first point to the last; empty where none was measured. */
function inSteps(points: readonly Stats[], stepMs: number): Array<Stats | undefined> {
  const steps: Array<Stats | undefined> = [];
  let before = Number.NaN;
  for (const point of points) {
    const at = Date.parse(point.timestamp ?? '');
    const missing = Math.round((at - before) / stepMs) - 1;
    for (let i = 0; i < missing; i++) steps.push(undefined);
    steps.push(point);
    before = at;
  }
  return steps;
}

function list(cli: Cli, points: readonly Stats[]): void {
  showList(cli, {
    rows: points,
    none: 'Nothing was measured in that time.',
    columns: [
      { title: 'WHEN', text: ({ timestamp }) => timestamp },
      { title: 'CPU %', text: ({ cpuPercent }) => String(cpuPercent) },
      { title: 'MEMORY', text: ({ memoryUsage }) => memoryUsage },
      { title: 'NET IN', text: ({ networkRxBytes }) => networkRxBytes },
      { title: 'NET OUT', text: ({ networkTxBytes }) => networkTxBytes },
      { title: 'READ', text: ({ blockRead }) => blockRead },
      { title: 'WRITTEN', text: ({ blockWrite }) => blockWrite },
      { title: 'PROCESSES', text: ({ pids }) => String(pids) },
    ],
  });
}
