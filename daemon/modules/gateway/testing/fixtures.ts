import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Upstream } from '../upstream/adapter.ts';
import type { UpstreamError } from '../upstream/error.ts';
import { completionOf } from '../upstream/translate/chunks.ts';
import type { ChatChunk, ChatCompletion, ChatRequest } from '../wire/chat.ts';

/** One pair of messages of two dialects that mean the same, or an error and what it means. */
export interface Fixture {
  readonly name: string;
  readonly file: string;
  /** Where the shape comes from. */
  readonly source: string;
  /** What is asked in chat completions, and in the dialect. */
  readonly request?: ChatRequest;
  readonly upstream?: unknown;
  /** What is answered in the dialect, and in chat completions. */
  readonly answer?: unknown;
  readonly completion?: unknown;
  /** The answer comes as a call of the tool that takes it. */
  readonly answersByTool?: boolean;
  /** An answer that is no success, and the failure that it means. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly failure?: unknown;
}

/** The fixtures of a dialect. */
export function fixturesIn(folder: string): Fixture[] {
  const files = readdirSync(join(folder, 'fixtures')).filter((file) => file.endsWith('.json'));
  return files.toSorted().map((file) => {
    const path = join(folder, 'fixtures', file);
    return { name: file.replace('.json', ''), file: path, ...JSON.parse(readFileSync(path, 'utf8')) };
  });
}

/** As it stands in a file: without what is undefined. */
export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** A completion as fixtures have it: without its time, and without an id that the upstream did not give. */
export function plainCompletion(chunks: readonly ChatChunk[]): unknown {
  const { created: _, id, ...completion } = completionOf(chunks) as ChatCompletion;
  return plain(id.startsWith('chatcmpl_') ? completion : { id, ...completion });
}

/** What an answer that is no success means. */
export async function plainFailure(
  { status, headers, body }: Fixture,
  read: (response: Response, upstream: Upstream) => Promise<UpstreamError>,
  upstream: Upstream,
): Promise<unknown> {
  const { kind, message, details } = await read(Response.json(body, { status, headers }), upstream);
  const { status: said, type, retryAfterMs } = details;
  return plain({ kind, message, status: said, type, retryAfterMs });
}
