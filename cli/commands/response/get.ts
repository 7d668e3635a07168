import type { Output } from '../../../src/api/endpoint.ts';
import { responses } from '../../../src/api/gateway/responses.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';
import { createdAt } from './created-at.ts';

type Shown = Output<typeof responses.GetResponse>;

/** `svc response get`. */
export const get = verb<[id: string], { json?: true }>({
  configure: (command) => command.argument('<id>', 'Id of a response').option('--json', 'Print JSON'),
  examples: ['svc response get resp_01jd...', 'svc response get resp_01jd... --json | jq .output'],
  async run(cli, [id], { json }) {
    const client = await cli.client();
    const found = await client.call(responses.GetResponse, { params: { responseId: id }, query: {} });
    if (json) {
      showJson(cli, found);
      return undefined;
    }
    const made = createdAt(found.created_at);
    showFields(cli, [
      ['id', found.id],
      ['status', found.status],
      ['reason', found.error?.message ?? found.incomplete_details?.reason],
      ['model', found.model],
      ['goes on from', found.previous_response_id ?? undefined],
      ['background', found.background ? 'yes' : 'no'],
      ['created', made && `${made} (${relativeTime(made)})`],
      [
        'tokens',
        found.usage ? `${found.usage.input_tokens} in, ${found.usage.output_tokens} out` : undefined,
      ],
      ['calls', callsIn(found).join(', ') || undefined],
      ['text', textIn(found) || undefined],
    ]);
    return undefined;
  },
});

function callsIn({ output }: Shown): string[] {
  return output.flatMap(({ type, name }) => (type === 'function_call' && name ? [name] : []));
}

function textIn({ output }: Shown): string {
  return output
    .flatMap(({ type, content }) => (type === 'message' && Array.isArray(content) ? content : []))
    .map(({ text = '' }) => text)
    .join('');
}
