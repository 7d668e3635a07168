import type { ChatContentPart, ChatMessage } from '../../wire/chat.ts';
import type { MessagesBlock } from '../../wire/messages.ts';
import { refused } from '../refused.ts';
import { parseDataUrl } from '../translate/content.ts';

/** The blocks of a message's content. Empty texts are left out: this dialect refuses them. Errors: UpstreamError naming the part. */
export function blocksOf(content: ChatMessage['content'], field: string): MessagesBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return (content ?? []).flatMap((part, i) => {
    const block = blockOf(part, `${field}.${i}`);
    return block ? [block] : [];
  });
}

/** A copy of a block with the mark of a cache that stood on its source. */
export function withCache(block: MessagesBlock, source: object): MessagesBlock {
  const { cache_control } = source as Pick<MessagesBlock, 'cache_control'>;
  return cache_control ? { ...block, cache_control } : block;
}

function blockOf(part: ChatContentPart, field: string): MessagesBlock | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const text = part.text ?? part.refusal ?? '';
      return text === '' ? undefined : withCache({ type: 'text', text }, part);
    }
    case 'image_url':
      return withCache(imageOf(part.image_url?.url, field), part);
    case 'file':
      return withCache(documentOf(part.file ?? {}, field), part);
    case 'input_audio':
      throw refused(field, 'this model does not take sound');
    default:
      // A part in this dialect's own words.
      if ('source' in part || 'content' in part) return part as MessagesBlock;
      throw refused(field, `a part of the type ${JSON.stringify(part.type)} is not understood`);
  }
}

function imageOf(url: string | undefined, field: string): MessagesBlock {
  if (!url) throw refused(`${field}.image_url.url`, 'is required');
  const inline = inlineData(url, `${field}.image_url.url`);
  if (!inline) return { type: 'image', source: { type: 'url', url } };
  const media_type = inline.mimeType === 'image/jpg' ? 'image/jpeg' : inline.mimeType;
  return { type: 'image', source: { type: 'base64', media_type, data: inline.data } };
}

function documentOf(file: Readonly<Record<string, unknown>>, field: string): MessagesBlock {
  const { file_data: content, file_id: id, filename } = file;
  const title = typeof filename === 'string' && filename !== '' ? { title: filename } : {};
  if (typeof id === 'string') return { type: 'document', source: { type: 'file', file_id: id }, ...title };
  if (typeof content !== 'string') throw refused(`${field}.file`, 'has neither file_data nor file_id');
  if (/^https?:\/\//.test(content))
    return { type: 'document', source: { type: 'url', url: content }, ...title };
  const { mimeType, data } = inlineData(content, `${field}.file.file_data`) ?? {
    mimeType: 'application/pdf',
    data: content,
  };
  const source = { type: 'base64', media_type: mimeType, data };
  if (source.media_type.startsWith('text/'))
    return { type: 'document', source: plainText(source.data), ...title };
  if (source.media_type.startsWith('image/')) return { type: 'image', source };
  return { type: 'document', source, ...title };
}

function inlineData(url: string, field: string): ReturnType<typeof parseDataUrl> {
  try {
    return parseDataUrl(url);
  } catch {
    throw refused(field, 'is a data URL that cannot be read');
  }
}

function plainText(base64: string) {
  return { type: 'text', media_type: 'text/plain', data: Buffer.from(base64, 'base64').toString() };
}
