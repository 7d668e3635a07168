import { usage } from '../../../../src/api/gateway/usage.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { implement, type Route } from '../../../http/route.ts';
import { type ServerEvent, sse } from '../../../http/sse.ts';
import { readCursor, toCursor } from './cursor.ts';
import { exportBody, FORMATS } from './export.ts';
import type { LoggedRecord } from './log-row.ts';
import type { RequestLog } from './request-log.ts';
import { dayText, type UsageReports } from './usage.ts';
import { toRequest, toSums } from './wire.ts';

/** The operations on what was used, and on the request log. */
export function usageRoutes(reports: UsageReports, log: RequestLog): Route[] {
  return implement(usage, {
    GetUsage: async ({ caller, query }) => {
      const { from, to, groups, total } = await reports.report(caller.tenant, query);
      return {
        from: dayText(from),
        to: dayText(to),
        groups: groups.map(({ group, sums }) => ({ group, ...toSums(sums) })),
        total: toSums(total),
      };
    },
    ListRequests: async ({ caller, query }) => {
      const { records, next, last } = await log.list(caller.tenant, query, readCursor(query.cursor));
      return { requests: records.map(toRequest), nextCursor: next && toCursor(next), lastId: String(last) };
    },
    WatchRequests: ({ caller, query: { after, ...filter }, request, signal, headers }) => {
      const records = log.watch(caller.tenant, filter, lastSeen(request, after), signal);
      return sse(toEvents(records), { signal, headers, greets: true });
    },
    ExportRequests: async ({ caller, query: { format = 'ndjson', ...query }, signal, headers }) => {
      const { contentType } = FORMATS[format];
      const body = exportBody(await log.all(caller.tenant, query, signal), FORMATS[format]);
      headers.set('content-type', contentType);
      headers.set('content-disposition', `attachment; filename="requests.${format}"`);
      return new Response(body, { headers });
    },
    GetRequest: async ({ caller, params }) => toRequest(await log.get(caller.tenant, params.requestId)),
  });
}

/** The row that the reader saw last; undefined when it does not say. Errors: invalid_argument. */
function lastSeen(request: Request, query: string | undefined): number | undefined {
  const text = request.headers.get('last-event-id') || query;
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw invalid({ field: 'Last-Event-ID', description: 'must be the id of an event' });
  return Number(text);
}

async function* toEvents(records: AsyncIterable<LoggedRecord>): AsyncGenerator<ServerEvent> {
  for await (const record of records) yield { id: record.seq, data: toRequest(record) };
}
