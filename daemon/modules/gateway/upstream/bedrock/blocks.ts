import type { ChatContentPart, ChatMessage } from '../../wire/chat.ts';
import { UpstreamError } from '../error.ts';
import { isObject, mimeTypeOf, parseDataUrl } from '../translate/content.ts';
import type { Block, CachePoint, Source } from './wire.ts';

const PICTURES = new Set(['png', 'jpeg', 'gif', 'webp']);
const VIDEOS = new Set(['mp4', 'mov', 'mkv', 'webm', 'flv', 'mpeg', 'mpg', 'wmv', 'three_gp']);
const DOCUMENTS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};

/** The point after a part, a message or a tool that asks to be cached; undefined when it does not. */
export function cachePointOf(marked: object): CachePoint | undefined {
  const { cache_control } = marked as { cache_control?: unknown };
  if (!isObject(cache_control)) return undefined;
  return { cachePoint: { type: 'default', ...(cache_control.ttl === '1h' ? { ttl: '1h' as const } : {}) } };
}

/** Makes the blocks of messages. One for each request, because documents need names of their own. */
export class Blocks {
  private documents = 0;

  constructor(private readonly caches: boolean) {}

  /** The blocks of a content; blank texts, which are refused, are left out. Errors: UpstreamError of kind request. */
  of(content: ChatMessage['content']): Block[] {
    if (typeof content === 'string') return isBlank(content) ? [] : [{ text: content }];
    return (content ?? []).flatMap((part) => {
      const block = this.block(part);
      return block ? [block, ...this.cached(part)] : [];
    });
  }

  /** The cache point that a part or a message asks for, where the model has any. */
  cached(marked: object): CachePoint[] {
    const point = this.caches ? cachePointOf(marked) : undefined;
    return point ? [point] : [];
  }

  private block(part: ChatContentPart): Block | undefined {
    const text = part.text ?? part.refusal;
    if (part.type === 'text' || part.type === 'refusal') return text && !isBlank(text) ? { text } : undefined;
    if (part.type === 'image_url') return picture(part.image_url?.url ?? '');
    if (part.type === 'video_url') return video(part);
    if (part.type === 'file') return this.document(part.file ?? {});
    throw refused(`A part of type ${JSON.stringify(part.type)} has no place in a message to this model.`);
  }

  private document({ file_data, filename }: Record<string, unknown>): Block {
    if (typeof file_data !== 'string') throw refused('Bedrock takes files as file_data, not by an id.');
    const given = typeof filename === 'string' ? filename : '';
    const inline = parseDataUrl(file_data);
    const format = DOCUMENTS[inline?.mimeType ?? mimeTypeOf(given) ?? 'application/pdf'];
    if (!format) throw refused(`Bedrock has no documents of the type ${inline?.mimeType}.`);
    const name = `${nameOf(given)} ${++this.documents}`;
    return { document: { format, name, source: { bytes: inline?.data ?? file_data } } };
  }
}

/** White space alone; in the language of Converse a text may not be. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Names of documents have letters, digits, single blanks, hyphens and brackets. */
function nameOf(filename: string): string {
  const base = filename.replace(/\.[^.]*$/, '').replace(/[^a-zA-Z0-9\s\-()[\]]/g, ' ');
  return base.replace(/\s+/g, ' ').trim().slice(0, 100) || 'document';
}

function picture(url: string): Block {
  const { format, source } = mediaOf(url, 'png');
  const name = format === 'jpg' ? 'jpeg' : format;
  if (!PICTURES.has(name)) throw refused(`Bedrock has no pictures of the format ${JSON.stringify(name)}.`);
  return { image: { format: name, source } };
}

function video(part: ChatContentPart): Block {
  const { video_url } = part as { video_url?: unknown };
  const url = isObject(video_url) && typeof video_url.url === 'string' ? video_url.url : '';
  const { format, source } = mediaOf(url, 'mp4');
  const name = format === 'quicktime' ? 'mov' : format === '3gpp' ? 'three_gp' : format;
  if (!VIDEOS.has(name)) throw refused(`Bedrock has no videos of the format ${JSON.stringify(name)}.`);
  return { video: { format: name, source } };
}

function mediaOf(url: string, otherwise: string): { format: string; source: Source } {
  const inline = parseDataUrl(url);
  if (inline) return { format: inline.mimeType.replace(/^.*\//, ''), source: { bytes: inline.data } };
  if (!url.startsWith('s3://'))
    throw refused('Bedrock takes pictures and videos as data: URLs or s3:// addresses, not from the web.');
  const format = /\.(\w+)$/.exec(url)?.[1]?.toLowerCase() ?? otherwise;
  return { format, source: { s3Location: { uri: url } } };
}

function refused(message: string): UpstreamError {
  return new UpstreamError('request', message, { status: 400, param: 'messages' });
}
