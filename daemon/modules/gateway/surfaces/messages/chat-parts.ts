import { refused } from '../../upstream/refused.ts';
import type { ChatContentPart } from '../../wire/chat.ts';
import type { MessagesBlock } from '../../wire/messages.ts';
import type { Taste } from './taste.ts';

/** A block of a user's turn as a part of a chat message. Errors: UpstreamError naming the block. */
export function partOf(block: MessagesBlock, field: string, { marks }: Taste): ChatContentPart {
  const part = unmarked(block, field);
  const mark: object = marks && block.cache_control ? { cache_control: block.cache_control } : {};
  return { ...part, ...mark };
}

function unmarked(block: MessagesBlock, field: string): ChatContentPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text ?? '' };
    case 'image':
      return { type: 'image_url', image_url: { url: imageUrl(block, field) } };
    case 'document':
      return document(block, field);
    case 'search_result':
      return {
        type: 'text',
        text: [block.title, block.source, textIn(block.content)].filter(isText).join('\n'),
      };
    default:
      throw refused(
        field,
        `a block of the type ${JSON.stringify(block.type)} is not understood by this model`,
      );
  }
}

function imageUrl(block: MessagesBlock, field: string): string {
  const source = sourceOf(block);
  if (source?.type === 'base64')
    return `data:${source.media_type ?? 'image/png'};base64,${source.data ?? ''}`;
  if (source?.type === 'url' && source.url) return source.url;
  throw refused(`${field}.source`, 'is a picture that this model cannot fetch; send it as base64 or url');
}

function document(block: MessagesBlock, field: string): ChatContentPart {
  const { title } = block;
  const source = sourceOf(block);
  const filename = title || 'document.pdf';
  switch (source?.type) {
    case 'base64':
      return {
        type: 'file',
        file: { filename, file_data: `data:${source.media_type};base64,${source.data}` },
      };
    case 'url':
      return { type: 'file', file: { filename, file_data: source.url } };
    case 'file':
      return { type: 'file', file: { file_id: source.file_id } };
    case 'text':
      return { type: 'text', text: [title, source.data].filter(isText).join('\n') };
    case 'content':
      return { type: 'text', text: [title, textIn(source.content)].filter(isText).join('\n') };
    default:
      throw refused(`${field}.source`, 'is not understood by this model');
  }
}

function sourceOf({ source }: MessagesBlock) {
  return typeof source === 'string' ? undefined : source;
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((one: { text?: unknown } | null) => (isText(one?.text) ? one.text : '')).join('\n');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
