import type { ChatContentPart, ChatMessage } from '../../wire/chat.ts';
import { refused } from '../refused.ts';
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
    throw refused('messages', `has a part of type ${JSON.stringify(part.type)}, which has no place here`);
  }

  private document({ file_data, filename }: Record<string, unknown>): Block {
    if (typeof file_data !== 'string')
      throw refused('messages', 'has a file by its id, but Bedrock takes files as file_data');
    const given = typeof filename === 'string' ? filename : '';
    const inline = parseDataUrl(file_data);
    const format = DOCUMENTS[inline?.mimeType ?? mimeTypeOf(given) ?? 'application/pdf'];
    if (!format)
      throw refused('messages', `has a file of the type ${inline?.mimeType}, which Bedrock does not read`);
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
  if (!PICTURES.has(name))
    throw refused(
      'messages',
      `has a picture of the format ${JSON.stringify(name)}, which Bedrock does not read`,
    );
  return { image: { format: name, source } };
}

function video(part: ChatContentPart): Block {
  const { video_url } = part as { video_url?: unknown };
  const url = isObject(video_url) && typeof video_url.url === 'string' ? video_url.url : '';
  const { format, source } = mediaOf(url, 'mp4');
  const name = format === 'quicktime' ? 'mov' : format === '3gpp' ? 'three_gp' : format;
  if (!VIDEOS.has(name))
    throw refused(
      'messages',
      `has a video of the format ${JSON.stringify(name)}, which Bedrock does not read`,
    );
  return { video: { format: name, source } };
}

function mediaOf(url: string, otherwise: string): { format: string; source: Source } {
  const inline = parseDataUrl(url);
  if (inline) return { format: inline.mimeType.replace(/^.*\//, ''), source: { bytes: inline.data } };
  if (!url.startsWith('s3://'))
    throw refused(
      'messages',
      'has a picture or video on the web, but Bedrock takes data: URLs and s3:// addresses',
    );
  const format = /\.(\w+)$/.exec(url)?.[1]?.toLowerCase() ?? otherwise;
  return { format, source: { s3Location: { uri: url } } };
}
