import { cache } from '../../../src/api/gateway/cache.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc cache stats`: how the cache of answers stands. */
export const stats = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  examples: ['svc cache stats', 'svc gateway config set cache enabled=true ttl=1h'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const state = await client.call(cache.GetCache);
    if (json) {
      showJson(cli, state);
      return undefined;
    }
    const { hits = 0, semanticHits = 0, misses = 0 } = state;
    const asked = hits + semanticHits + misses;
    const rate = asked === 0 ? '-' : `${Math.round(((hits + semanticHits) / asked) * 100)}%`;
    showFields(cli, [
      ['Enabled', state.enabled ? `yes, ${state.type}, ${state.ttl}` : 'no'],
      ['Semantic', state.semantic ? 'yes' : 'no'],
      ['Answers', state.entries === undefined ? 'in Redis' : String(state.entries)],
      ['Bytes', state.bytes ?? '-'],
      ['Hits', `${hits} exact, ${semanticHits} semantic`],
      ['Misses', String(misses)],
      ['Hit rate', rate],
      ['Kept', String(state.kept ?? 0)],
    ]);
    return undefined;
  },
});
