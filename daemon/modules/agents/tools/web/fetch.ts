import { t } from '../../../../../src/api/schema.ts';
import { fail } from '../../../../../src/errors/app-error.ts';
import { formatBytes } from '../../../../../src/kit/bytes.ts';
import { SECOND_MS } from '../../../../../src/kit/time.ts';
import type { Outbound } from '../../../../outbound/outbound.ts';
import { declareTool } from '../declare.ts';
import { done, failed, type Tool, type ToolOutcome } from '../tool.ts';
import { Body, decoded, MOST_BODY_BYTES } from './body.ts';
import { framed } from './frame.ts';
import { getPage, type Page } from './page.ts';
import { type Readable, readableOf } from './readable.ts';

const DEADLINE_MS = 20 * SECOND_MS;
const DEFAULT_CHARACTERS = 20_000;
const MOST_CHARACTERS = 200_000;
/** Of a page that says that something is wrong. */
const MOST_OF_ERROR = 1_000;
const CUT = `\n(too large: what is behind the first ${formatBytes(MOST_BODY_BYTES)}, or nested too deep, was not read)`;
/** Where a page says how it is encoded. */
const SNIFFED = 2_048;

/** The tool that reads a page. It reaches what is public and nothing else. */
export function fetchTool(outbound: Pick<Outbound, 'fetch'>): Tool {
  return declareTool({
    name: 'web_fetch',
    description:
      'Gets a public web address and returns its text: pages as Markdown, text and JSON as they are. No PDF, no images.',
    isRead: true,
    isParallel: true,
    parameters: t.Object({
      url: t.String({ minLength: 1, maxLength: 8_000, description: 'http:// or https://' }),
      maxChars: t.Optional(
        t.Integer({
          minimum: 100,
          maximum: MOST_CHARACTERS,
          description: `How much of the text. Default ${DEFAULT_CHARACTERS}.`,
        }),
      ),
    }),
    async run({ url, maxChars = DEFAULT_CHARACTERS }, { signal }) {
      const late = AbortSignal.timeout(DEADLINE_MS);
      try {
        const page = await getPage(outbound, url, AbortSignal.any([signal, late]));
        return await outcomeOf(page, maxChars);
      } catch (error) {
        if (late.aborted && !signal.aborted)
          throw fail('upstream_timeout', { message: `${url} did not answer within 20 s.` });
        throw error;
      }
    },
  });
}

async function outcomeOf({ url, response }: Page, most: number): Promise<ToolOutcome> {
  const type = response.headers.get('content-type') ?? '';
  const refusal = whyUnreadable(type);
  if (refusal) {
    await response.body?.cancel().catch(() => undefined);
    return failed(`${url} is ${refusal}, which web_fetch does not read.`);
  }
  const body = new Body(response);
  const { title, text, isCut } = await textOf(body, type, url);
  if (text.startsWith('%PDF-')) return failed(`${url} is a PDF, which web_fetch does not read.`);
  if (text.slice(0, SNIFFED).includes('\0')) return failed(`${url} is no text.`);
  if (response.status >= 400)
    return failed(`${url} answered ${response.status}.\n${framed(url, text.slice(0, MOST_OF_ERROR))}`);
  const head = [`URL: ${url}`, ...(title === '' ? [] : [`Title: ${title}`])].join('\n');
  const shown = text.slice(0, most).toWellFormed();
  const more =
    text.length > most ? `\n(${most} of ${text.length} characters; ask for more with maxChars)` : '';
  const cut = isCut || body.isCut ? CUT : '';
  return done(`${framed(url, `${head}\n\n${shown === '' ? '(no text)' : shown}`)}${more}${cut}`);
}

async function textOf(body: Body, type: string, url: string): Promise<Readable> {
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(type)?.[1];
  if (!/\bx?html\b/i.test(type) && type !== '')
    return { title: '', text: await body.text(charset ?? 'utf-8'), isCut: false };
  const { first, all } = await peeked(body.bytes());
  const start = new TextDecoder('latin1').decode(first.subarray(0, SNIFFED));
  const said = charset ?? /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1] ?? 'utf-8';
  if (type === '' && !/<(!doctype|html|head|body|p|div)\b/i.test(start)) {
    let text = '';
    for await (const part of decoded(all, said)) text += part;
    return { title: '', text, isCut: false };
  }
  return readableOf(decoded(all, said), url);
}

/** The first bytes, and all of them. */
async function peeked(
  bytes: AsyncGenerator<Uint8Array>,
): Promise<{ first: Uint8Array; all: AsyncGenerator<Uint8Array> }> {
  const { value } = await bytes.next();
  const first = value ?? new Uint8Array();
  async function* all() {
    yield first;
    yield* bytes;
  }
  return { first, all: all() };
}

/** What kind of thing it is that is no text; undefined for text. */
function whyUnreadable(type: string): string | undefined {
  const bare = type.split(';')[0]?.trim().toLowerCase() ?? '';
  if (bare === 'application/pdf') return 'a PDF';
  const [family] = bare.split('/');
  if (family === 'image' && bare !== 'image/svg+xml') return 'an image';
  if (family === 'audio' || family === 'video' || family === 'font') return `a file of the type ${bare}`;
  const isText =
    bare === '' ||
    family === 'text' ||
    /[/+](json|xml|yaml|x-yaml|javascript|ecmascript|x-ndjson|ndjson|toml|x-sh|rss|atom|graphql)$/.test(bare);
  return isText || bare === 'application/xhtml+xml' ? undefined : `a file of the type ${bare}`;
}
