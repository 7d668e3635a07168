import { responseList } from '../../../../../src/api/gateway/response-list.ts';
import { responses } from '../../../../../src/api/gateway/responses.ts';
import { invalid } from '../../../../../src/errors/app-error.ts';
import { isId } from '../../../../../src/kit/id.ts';
import { implement, type Route } from '../../../../http/route.ts';
import { modelCall } from '../../pipeline/call.ts';
import { answerOf, followed } from './answers.ts';
import { statusesOf, toListed } from './list.ts';
import type { ResponseService } from './service.ts';
import type { ResponseRequest } from './wire.ts';

const DEFAULT_LIMIT = 20;

/** Responses, and the list of those that are kept. */
export function responseRoutes(service: ResponseService): Route[] {
  return [
    ...implement(responses, {
      CreateResponse: async (call) => {
        const created = await service.create(modelCall('responses', call, call.body as ResponseRequest));
        return answerOf(created, call.signal);
      },
      GetResponse: ({ caller, params, query, signal }) =>
        query.stream
          ? followed(
              service.follow(caller.tenant, params.responseId, query.starting_after ?? -1, signal),
              signal,
            )
          : service.get(caller.tenant, params.responseId),
      DeleteResponse: async ({ caller, params: { responseId: id } }) => {
        await service.remove(caller.tenant, id);
        return { id, object: 'response.deleted', deleted: true };
      },
      CancelResponse: ({ caller, params }) => service.cancel(caller.tenant, params.responseId),
      ListResponseInputItems: ({
        caller,
        params,
        query: { after, limit = DEFAULT_LIMIT, order = 'desc' },
      }) => {
        const { rows, hasMore } = service.input(caller.tenant, params.responseId, { after, limit, order });
        const [first_id = null, last_id = null] = [rows[0]?.id, rows.at(-1)?.id];
        return { object: 'list' as const, data: rows, first_id, last_id, has_more: hasMore };
      },
    }),
    ...implement(responseList, {
      ListResponses: ({
        caller,
        query: { status, limit = DEFAULT_LIMIT, after, before, order = 'desc' },
      }) => {
        const page = { limit, order, after: cursor('after', after), before: cursor('before', before) };
        const { rows, hasMore } = service.list(caller.tenant, statusesOf(status), page);
        const [firstId = '', lastId = ''] = [rows[0]?.id, rows.at(-1)?.id];
        return { data: rows.map(toListed), object: 'list' as const, firstId, lastId, hasMore };
      },
    }),
  ];
}

function cursor(field: string, id: string | undefined): string | undefined {
  if (id === undefined || id === '') return undefined;
  if (isId('resp', id)) return id;
  throw invalid({ field, description: 'must be the id of a response' });
}
