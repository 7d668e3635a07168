import { usage } from '../../../src/api/gateway/usage.ts';
import { showFields, showJson, showList } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { took, usd } from '../usage/shown.ts';

/** `svc logs show`: one request, with every attempt that was made for it. */
export const show = verb<[id: string], { json?: true }>({
  configure: (command) =>
    command
      .argument('<id>', 'Id of a request: the header x-request-id of its answer')
      .option('--json', 'Print JSON'),
  examples: ['svc logs show req_01m7zqmc28f0x7p8pfj5a8e1n3'],
  async run(cli, [requestId], { json }) {
    const client = await cli.client();
    const request = await client.call(usage.GetRequest, { params: { requestId } });
    if (json) {
      showJson(cli, request);
      return undefined;
    }
    const guess = request.estimated ? ' (a guess)' : '';
    showFields(cli, [
      ['request', request.requestId],
      ['began', request.startedAt],
      ['key', request.key],
      ['surface', `${request.surface}${request.streamed ? ', streamed' : ''}`],
      ['ended', `${request.status} ${request.ending}`],
      ['error', request.error],
      ['asked for', request.requestedModel],
      ['answered by', request.model],
      ['found by', request.resolvedBy],
      ['took', took(request.durationMs)],
      ['first byte', took(request.firstByteMs)],
      ['tokens in', request.inputTokens && `${request.inputTokens}${guess}`],
      ['from cache', request.cachedInputTokens],
      ['to cache', request.cacheWriteTokens],
      ['tokens out', request.outputTokens && `${request.outputTokens}${guess}`],
      ['reasoning', request.reasoningTokens],
      ['cost', request.costUsd === undefined ? 'not known' : usd(request.costUsd)],
      ['cache', request.cache],
      ['guardrails', request.guardrails?.join(', ')],
    ]);
    showList(cli, {
      rows: request.attempts ?? [],
      none: '',
      columns: [
        { title: 'ATTEMPT', text: ({ model }) => model },
        { title: 'KEY', text: ({ keyId }) => keyId },
        { title: 'TOOK', text: ({ durationMs }) => took(durationMs), align: 'right' },
        {
          title: 'ENDED',
          text: ({ failure, status }) => [failure ?? 'ok', status].filter(Boolean).join(' '),
        },
      ],
    });
    return undefined;
  },
});
