import { fail } from '../../../../../src/errors/app-error.ts';
import { MIB } from '../../../../../src/kit/bytes.ts';
import type { Outbound } from '../../../../outbound/outbound.ts';
import { Body } from './body.ts';

/** A page that a search has found. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** A search service, and how it is reached. */
interface Access {
  readonly outbound: Pick<Outbound, 'fetch'>;
  /** Without a slash at its end. */
  readonly url: string;
  readonly key: string;
  readonly signal: AbortSignal;
}

/** How a search service is asked. */
interface SearchProvider {
  /** Where it is when nobody says otherwise; empty where everybody runs their own. */
  readonly url: string;
  readonly needsKey: boolean;
  /** Errors: upstream_failed naming what is wrong, upstream_timeout, outbound_refused, cancelled. */
  search(access: Access, query: string, count: number): Promise<SearchResult[]>;
}

/** What is asked of a service. */
interface Question {
  readonly url: string;
  readonly method?: 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const MOST_ANSWER = 4 * MIB;

/** The services, by the name in the setting `websearch.provider`. */
export const PROVIDERS: Readonly<Record<string, SearchProvider>> = {
  /** https://docs.searxng.org/dev/search_api.html */
  searxng: {
    url: '',
    needsKey: false,
    async search(access, query) {
      const headers = access.key === '' ? undefined : { authorization: `Bearer ${access.key}` };
      const url = `${trimmed(access.url)}/search?${new URLSearchParams({ q: query, format: 'json' })}`;
      const answer = await ask(access, { url, headers }, 'json must be among search.formats of SearXNG');
      return resultsOf(listIn(answer, 'results'), 'content');
    },
  },
  /** https://api-dashboard.search.brave.com/app/documentation/web-search/query */
  brave: {
    url: 'https://api.search.brave.com',
    needsKey: true,
    async search(access, query, count) {
      const words = new URLSearchParams({ q: query, count: String(count), text_decorations: 'false' });
      const url = `${trimmed(access.url)}/res/v1/web/search?${words}`;
      const answer = await ask(access, { url, headers: { 'x-subscription-token': access.key } });
      return resultsOf(listIn(fieldOf(answer, 'web'), 'results'), 'description');
    },
  },
  /** https://docs.tavily.com/documentation/api-reference/endpoint/search */
  tavily: {
    url: 'https://api.tavily.com',
    needsKey: true,
    async search(access, query, count) {
      const headers = { authorization: `Bearer ${access.key}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ query, max_results: count, search_depth: 'basic' });
      const answer = await ask(access, {
        url: `${trimmed(access.url)}/search`,
        method: 'POST',
        headers,
        body,
      });
      return resultsOf(listIn(answer, 'results'), 'content');
    },
  },
};

/** The JSON that a service answers. Errors: as `search`. */
async function ask(
  { outbound, signal }: Access,
  { url, method, headers, body }: Question,
  ifForbidden = 'see websearch.api_key',
): Promise<unknown> {
  const all = { accept: 'application/json', 'accept-encoding': 'identity', ...headers };
  const request = {
    url,
    method,
    headers: all,
    body,
    signal,
    trust: 'operator',
    field: 'websearch.url',
  } as const;
  const response = await outbound.fetch(request);
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => undefined);
    const why = response.status === 401 || response.status === 403 ? `: ${ifForbidden}` : '';
    throw failure(`answered ${response.status}${why}`);
  }
  try {
    return JSON.parse(await new Body(response, MOST_ANSWER).text('utf-8'));
  } catch (error) {
    if (signal.aborted) throw error;
    throw failure('did not answer with JSON');
  }
}

function resultsOf(list: readonly unknown[], snippet: string): SearchResult[] {
  return list.flatMap((one) => {
    const [title, url, text] = [fieldOf(one, 'title'), fieldOf(one, 'url'), fieldOf(one, snippet)];
    if (typeof url !== 'string' || !/^https?:/.test(url)) return [];
    return [
      { title: typeof title === 'string' ? title : url, url, snippet: typeof text === 'string' ? text : '' },
    ];
  });
}

function listIn(answer: unknown, name: string): readonly unknown[] {
  const list = fieldOf(answer, name);
  return Array.isArray(list) ? list : [];
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, '');
}

function failure(what: string) {
  return fail('upstream_failed', { message: `The search service ${what}.` });
}
