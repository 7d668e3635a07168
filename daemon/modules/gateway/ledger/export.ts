import type { LoggedRecord } from './log-row.ts';
import { type ShownRequest, toRequest } from './wire.ts';

/** The columns of a CSV, in their order. */
const COLUMNS = [
  'requestId',
  'startedAt',
  'key',
  'surface',
  'streamed',
  'status',
  'ending',
  'requestedModel',
  'model',
  'resolvedBy',
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'estimated',
  'costUsd',
  'durationMs',
  'firstByteMs',
  'attempts',
  'cache',
  'guardrails',
  'error',
] as const satisfies ReadonlyArray<keyof ShownRequest>;

/** Records that travel in one piece. */
const AT_ONCE = 200;

/** What a download is made of. */
export interface ExportFormat {
  readonly contentType: string;
  readonly head: string;
  line(request: ShownRequest): string;
}

/** How the log can be downloaded. CSV as in RFC 4180. */
export const FORMATS: Readonly<Record<'ndjson' | 'csv', ExportFormat>> = {
  ndjson: {
    contentType: 'application/x-ndjson',
    head: '',
    line: (request) => `${JSON.stringify(request)}\n`,
  },
  csv: {
    contentType: 'text/csv; charset=utf-8',
    head: `${COLUMNS.join(',')}\r\n`,
    line: (request) => `${COLUMNS.map((column) => cell(shown(request[column]))).join(',')}\r\n`,
  },
};

/** The log as a body, made only as fast as it is read. */
export function exportBody(
  records: AsyncGenerator<LoggedRecord>,
  { head, line }: ExportFormat,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isBegun = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let text = isBegun ? '' : head;
      isBegun = true;
      for (let count = 0; count < AT_ONCE; count++) {
        const { done, value } = await records.next();
        if (done) {
          if (text !== '') controller.enqueue(encoder.encode(text));
          return controller.close();
        }
        text += line(toRequest(value));
      }
      controller.enqueue(encoder.encode(text));
    },
    cancel: () => void records.return(undefined),
  });
}

function shown(value: ShownRequest[keyof ShownRequest]): string {
  if (value === undefined) return '';
  if (!Array.isArray(value)) return String(value);
  return value
    .map((one) => (typeof one === 'string' ? one : `${one.model} ${one.failure ?? 'ok'}`))
    .join('; ');
}

/** A text that begins like a formula is one in spreadsheets, and callers choose the names of models. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
