import { parseNested } from '../../../../../src/kit/nesting.ts';
import type { ChatMessage } from '../../wire/chat.ts';
import { refused } from '../refused.ts';

/** What a `data:` URL holds. */
export interface InlineData {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

/** Reads a `data:` URL (RFC 2397); undefined when it is another URL. Errors: UpstreamError of kind request when it is broken. */
export function parseDataUrl(url: string): InlineData | undefined {
  const comma = url.slice(0, 5).toLowerCase() === 'data:' ? url.indexOf(',') : -1;
  if (comma < 0) return undefined;
  const head = url.slice(5, comma);
  const mimeType = (head.split(';')[0] || 'text/plain').toLowerCase();
  const data = url.slice(comma + 1);
  if (/;base64$/i.test(head)) return { mimeType, data };
  return { mimeType, data: Buffer.from(unescaped(data)).toString('base64') };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refused('messages', 'has a data: URL that cannot be read');
  }
}

/** The text of a message: its content, or the text and refusals of its parts. */
export function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text, refusal }) => text ?? refusal ?? '').join('');
}

/** A JSON object out of the text of a tool call's arguments; models write others too, which count as none. */
export function argumentsOf(text: string | undefined): Record<string, unknown> {
  const value = parsed(text ?? '');
  return isObject(value) ? value : {};
}

/** The value of a JSON text; undefined when it is none. */
export function parsed(text: string): unknown {
  try {
    return parseNested(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is an object with named fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The texts where a request stops, as a list; undefined without any. */
export function stopList(stop: string | readonly string[] | null | undefined): string[] | undefined {
  const list = typeof stop === 'string' ? [stop] : [...(stop ?? [])];
  return list.length > 0 ? list : undefined;
}

const MIME_BY_EXTENSION: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
};

/** What the end of a URL's path says of its type; undefined when it says nothing. */
export function mimeTypeOf(url: string): string | undefined {
  const path = url.replace(/[?#].*$/, '');
  return MIME_BY_EXTENSION[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
}
