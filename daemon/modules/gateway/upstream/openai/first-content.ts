import { SseParser } from '../../../../../src/client/sse.ts';
import { ReadAhead } from '../../wire/byte-source.ts';
import type { ByteSource } from '../adapter.ts';
import { type FailureDetails, UpstreamError } from '../error.ts';
import { kindOf, readSaid } from '../failed-answer.ts';

/** An event that has something of the answer in it, or is its end. */
const CONTENT =
  /"(?:content|reasoning|reasoning_content|refusal|arguments|name|text|delta)"\s*:\s*"[^"]|"finish_reason"\s*:\s*"|\[DONE\]/;
const FAILURE = /"error"\s*:/;
const MOST_AHEAD = 64 * 1024;

/**
 * Reads a stream until the first content has come, which is the last moment at which another upstream may be asked. Errors: UpstreamError
 * when the stream begins with an error, or ends without an answer.
 */
export async function untilContent(source: ByteSource, provider: string): Promise<ByteSource> {
  const head: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let text = '';
  while (text.length < MOST_AHEAD) {
    const { done, value } = await source.read();
    if (done || !value) throw emptyAnswer(provider, text);
    head.push(value);
    text += decoder.decode(value, { stream: true });
    if (FAILURE.test(text)) await throwFailure(text, source, provider);
    if (CONTENT.test(text)) break;
  }
  return new ReadAhead(head, source);
}

/**
 * Reads a stream of another kind until its first event is whole: also the last moment at which another upstream may be
 * asked. Errors: UpstreamError when that event is an error, or none comes.
 */
export async function untilEvent(source: ByteSource, provider: string): Promise<ByteSource> {
  const head: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let text = '';
  while (text.length < MOST_AHEAD && !/\r?\n\r?\n/.test(text)) {
    const { done, value } = await source.read();
    if (done || !value) throw emptyAnswer(provider, text);
    head.push(value);
    text += decoder.decode(value, { stream: true });
  }
  if (FAILURE.test(text)) await throwFailure(text, source, provider);
  return new ReadAhead(head, source);
}

/** The error that an event reports; undefined when it reports none. */
export function failureIn(data: string, provider: string): UpstreamError | undefined {
  if (!FAILURE.test(data)) return undefined;
  const said = readSaid(data);
  if (!hasError(data)) return undefined;
  const status = Number(said.code);
  const kind =
    status >= 400 && status < 600
      ? kindOf(status)
      : said.type?.includes('rate_limit')
        ? 'rate_limit'
        : 'server';
  const details: FailureDetails = { ...said, status: status >= 400 ? status : undefined };
  return new UpstreamError(
    kind,
    `The provider ${provider} failed: ${said.message ?? 'without a reason'}`,
    details,
  );
}

async function throwFailure(text: string, source: ByteSource, provider: string): Promise<void> {
  for (const { data } of new SseParser().push(text)) {
    const failure = failureIn(data, provider);
    if (!failure) continue;
    await source.cancel();
    throw failure;
  }
}

function hasError(data: string): boolean {
  try {
    const body = JSON.parse(data) as { error?: unknown } | null;
    return typeof body?.error === 'object' ? body.error !== null : typeof body?.error === 'string';
  } catch {
    return false;
  }
}

function emptyAnswer(provider: string, text: string): UpstreamError {
  const what =
    text.trim() === '' ? 'ended its stream without an answer' : 'ended its stream before its answer';
  return new UpstreamError('server', `The provider ${provider} ${what}.`);
}
