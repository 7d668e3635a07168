import { t } from '../../../../../src/api/schema.ts';
import { AppError } from '../../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../../src/kit/time.ts';
import type { App } from '../../../../app.ts';
import { declareTool } from '../declare.ts';
import { done, failed, type Tool } from '../tool.ts';
import { framed } from './frame.ts';
import { PROVIDERS, type SearchResult } from './providers.ts';

const DEADLINE_MS = 20 * SECOND_MS;
const DEFAULT_RESULTS = 5;
const MOST_RESULTS = 20;
const MOST_TITLE = 200;
const MOST_SNIPPET = 600;

/** The tool that searches the web by the service that the instance names. */
export function searchTool({ config, outbound }: Pick<App, 'config' | 'outbound'>): Tool {
  return declareTool({
    name: 'web_search',
    description: 'Searches the web and returns titles, addresses and excerpts. Read a page with web_fetch.',
    isRead: true,
    isParallel: true,
    parameters: t.Object({
      query: t.String({ minLength: 1, maxLength: 400 }),
      maxResults: t.Optional(
        t.Integer({ minimum: 1, maximum: MOST_RESULTS, description: `Default ${DEFAULT_RESULTS}.` }),
      ),
    }),
    async run({ query, maxResults = DEFAULT_RESULTS }, { signal, tell }) {
      const name = config.get('websearch.provider');
      const provider = PROVIDERS[name];
      if (!provider)
        return failed(
          'Web search is not set up on this instance. Its owner can name a service in the setting websearch.provider (searxng, brave or tavily).',
        );
      const [url, key] = [config.get('websearch.url') || provider.url, config.get('websearch.api_key')];
      if (url === '') return failed(`Web search by ${name} needs the setting websearch.url.`);
      if (provider.needsKey && key === '')
        return failed(`Web search by ${name} needs the setting websearch.api_key.`);
      tell({ type: 'web.search.start', toolArgs: JSON.stringify({ query, maxResults }) });
      const within = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]);
      try {
        const found = await provider.search({ outbound, url, key, signal: within }, query, maxResults);
        const results = found.slice(0, maxResults).map(short);
        tell({ type: 'web.search.results', toolResult: JSON.stringify(results) });
        return done(results.length === 0 ? 'Nothing was found.' : framed('a web search', listOf(results)));
      } catch (error) {
        if (error instanceof AppError && !signal.aborted)
          tell({ type: 'web.search.results', error: error.message, toolResult: '[]' });
        throw error;
      }
    },
  });
}

function short({ title, url, snippet }: SearchResult): SearchResult {
  const line = (text: string, most: number) => text.replace(/\s+/g, ' ').trim().slice(0, most).toWellFormed();
  return { title: line(title, MOST_TITLE), url: line(url, 2_000), snippet: line(snippet, MOST_SNIPPET) };
}

function listOf(results: readonly SearchResult[]): string {
  return results
    .map(
      ({ title, url, snippet }, i) =>
        `${i + 1}. ${title}\n   ${url}${snippet === '' ? '' : `\n   ${snippet}`}`,
    )
    .join('\n');
}
