import { isObject } from '../../../upstream/translate/content.ts';
import type { ChatContentPart, ChatMessage } from '../../../wire/chat.ts';
import type { Item } from '../wire.ts';
import { refused } from './tools.ts';

/** The content of a message in the words of chat completions: text alone where it is nothing else. Errors: UpstreamError naming the part. */
export function contentOf(
  content: Item['content'] | Item['output'],
  field: string,
): string | ChatContentPart[] {
  if (!Array.isArray(content)) return content ?? '';
  const parts = content.map((part, i) => partOf(part, `${field}.${i}`));
  return parts.every(({ type }) => type === 'text') ? parts.map(({ text = '' }) => text).join('') : parts;
}

/** What the assistant said, its refusals apart. */
export function saidIn(content: Item['content'] | null): Pick<ChatMessage, 'content' | 'refusal'> {
  if (!Array.isArray(content)) return { content: content ?? '' };
  const join = (kind: string, name: string) =>
    content.map((part: Record<string, unknown>) => (part.type === kind ? part[name] : '')).join('');
  const text = content.map(({ type, text = '' }) => (type === 'refusal' ? '' : text)).join('');
  const refusal = join('refusal', 'refusal');
  return refusal === '' ? { content: text } : { content: text === '' ? null : text, refusal };
}

function partOf(part: unknown, field: string): ChatContentPart {
  const given = isObject(part) ? part : {};
  switch (given.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
    case 'reasoning_text':
      return { type: 'text', text: textIn(given.text) };
    case 'refusal':
      return { type: 'text', text: textIn(given.refusal) };
    case 'input_image':
      return imageOf(given, field);
    case 'input_file':
      return fileOf(given, field);
    case 'input_audio':
      return { ...given, type: 'input_audio' };
    default:
      throw refused(`${field}.type`, `a part of the type ${JSON.stringify(given.type)} is not understood`);
  }
}

function imageOf(
  { image_url: url, detail }: Readonly<Record<string, unknown>>,
  field: string,
): ChatContentPart {
  if (typeof url !== 'string' || url === '')
    throw refused(
      `${field}.image_url`,
      'is required: files of a vendor are not to be had from this provider',
    );
  return { type: 'image_url', image_url: { url, ...(typeof detail === 'string' ? { detail } : {}) } };
}

function fileOf(part: Readonly<Record<string, unknown>>, field: string): ChatContentPart {
  const { file_data: data, file_url: url, file_id: id, filename } = part;
  const content = typeof data === 'string' ? data : typeof url === 'string' ? url : undefined;
  const name = typeof filename === 'string' ? { filename } : {};
  if (content !== undefined) return { type: 'file', file: { file_data: content, ...name } };
  if (typeof id === 'string') return { type: 'file', file: { file_id: id, ...name } };
  throw refused(field, 'has none of file_data, file_url and file_id');
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
