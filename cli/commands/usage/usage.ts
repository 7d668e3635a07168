import type { Output } from '../../../src/api/endpoint.ts';
import { usage as operations } from '../../../src/api/gateway/usage.ts';
import { DAY_MS, rfc3339 } from '../../../src/kit/time.ts';
import { duration, word } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { bar } from '../../ui/graph.ts';
import { showJson, showList } from '../../ui/show.ts';
import type { Column } from '../../ui/table.ts';
import { verb } from '../../verb.ts';
import { short, took, usd } from './shown.ts';

const GROUPS = ['model', 'key', 'provider', 'day', 'surface'] as const;
const BAR_WIDTH = 12;

interface Options {
  by: (typeof GROUPS)[number];
  since: number;
  model?: string;
  key?: string;
  json?: true;
}

type Report = Output<typeof operations.GetUsage>;
type Group = NonNullable<Report['groups']>[number];

/** `svc usage`: requests, tokens, cost and latency by model, key, provider, day or surface. */
export const usage = verb<[], Options>({
  configure: (command) =>
    command
      .option('--by <group>', GROUPS.join(', '), word(...GROUPS), 'model')
      .option('--since <duration>', 'How far back, in whole days of UTC', duration, 7 * DAY_MS)
      .option('--model <provider/model>', 'Only this model')
      .option('--key <id>', 'Only this API key or person')
      .option('--json', 'Print JSON'),
  about:
    'Sums are kept by day, also when the log of requests is gone. A model without a known price shows a dash.',
  examples: ['svc usage', 'svc usage --by day --since 30d', 'svc usage --by key --json'],
  async run(cli, _, { by, since, model, key, json }) {
    const client = await cli.client();
    // Today is one of the days.
    const from = rfc3339(Date.now() - Math.max(0, since - DAY_MS)).slice(0, 10);
    const report = await client.call(operations.GetUsage, { query: { groupBy: by, from, model, key } });
    if (json) showJson(cli, report);
    else show(cli, by, report);
    return undefined;
  },
});

function show(cli: Cli, by: Options['by'], { groups = [], total = {}, from, to }: Report): void {
  const most = Math.max(...groups.map(weight));
  const rows = groups.length > 1 ? [...groups, { group: 'total', ...total }] : groups;
  const share: Column<Group> = {
    title: '',
    text: (row) => (row.group === 'total' ? '' : bar(weight(row) / most, BAR_WIDTH)),
    raw: () => '',
  };
  showList(cli, {
    rows,
    none: 'No requests in that time. Try one: svc api POST /compat/v1/chat/completions',
    columns: [
      { title: by.toUpperCase(), text: ({ group }) => group },
      number('REQUESTS', ({ requests }) => requests),
      number('ERRORS', ({ errors }) => errors),
      number('CACHED', ({ cacheHits }) => cacheHits),
      number('TOKENS IN', ({ inputTokens }) => inputTokens),
      number('OUT', ({ outputTokens }) => outputTokens),
      { title: 'COST', align: 'right', text: cost, raw: ({ costUsd }) => String(costUsd ?? '') },
      time('P50', ({ durationMsP50 }) => durationMsP50),
      time('P95', ({ durationMsP95 }) => durationMsP95),
      time('FIRST BYTE', ({ firstByteMsP50 }) => firstByteMsP50),
      ...(cli.terminal.out.isTty && groups.length > 1 ? [share] : []),
    ],
  });
  if (cli.terminal.err.isTty && rows.length > 0) cli.terminal.note(`${from} to ${to}, days of UTC`);
}

/** A plus says that some requests are not in it, because their price is not known. */
function cost({ costUsd, unpricedRequests = '0', requests }: Group): string {
  if (unpricedRequests === '0') return usd(costUsd);
  return unpricedRequests === requests ? '-' : `${usd(costUsd)}+`;
}

function weight({ costUsd = 0, inputTokens, outputTokens }: Group): number {
  const tokens = Number(inputTokens ?? 0) + Number(outputTokens ?? 0);
  return costUsd > 0 ? costUsd : tokens / 1e12;
}

function number(title: string, read: (row: Group) => string | undefined): Column<Group> {
  return { title, align: 'right', text: (row) => short(read(row)), raw: (row) => read(row) ?? '0' };
}

function time(title: string, read: (row: Group) => number | undefined): Column<Group> {
  return { title, align: 'right', text: (row) => took(read(row)), raw: (row) => String(read(row) ?? '') };
}
