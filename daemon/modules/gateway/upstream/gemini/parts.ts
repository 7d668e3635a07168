import type { ChatContentPart, ChatMessage } from '../../wire/chat.ts';
import { refused } from '../refused.ts';
import { isObject, mimeTypeOf, parseDataUrl } from '../translate/content.ts';
import type { GeminiPart } from './wire.ts';

/** Addresses whose type the provider knows by itself: its own files and videos. */
const KNOWN_FILES = /^https:\/\/(generativelanguage\.googleapis\.com|(www\.)?youtube\.com|youtu\.be)\//;

/** The parts of a message's content; empty texts are left out. Errors: UpstreamError for a part that it cannot have. */
export function partsOf(content: ChatMessage['content']): GeminiPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  return (content ?? []).flatMap((part) => partOf(part) ?? []);
}

function partOf(part: ChatContentPart): GeminiPart | undefined {
  switch (part.type) {
    case 'text':
      return part.text ? { text: part.text } : undefined;
    case 'refusal':
      return part.refusal ? { text: part.refusal } : undefined;
    case 'image_url':
      return mediaOf(part.image_url?.url, 'image/jpeg');
    case 'video_url':
      return mediaOf(urlIn(part, 'video_url'), 'video/mp4');
    case 'input_audio':
      return soundOf(part);
    case 'file':
      return fileOf(part.file ?? {});
    default:
      throw refused('messages', `has a part of type ${JSON.stringify(part.type)}, which has no place here`);
  }
}

function urlIn(part: ChatContentPart, field: string): string | undefined {
  const value = (part as Record<string, unknown>)[field];
  return isObject(value) && typeof value.url === 'string' ? value.url : undefined;
}

function mediaOf(url: string | undefined, otherwise: string): GeminiPart | undefined {
  if (!url) return undefined;
  const inlineData = parseDataUrl(url);
  if (inlineData) return { inlineData };
  const mimeType = mimeTypeOf(url) ?? (KNOWN_FILES.test(url) ? undefined : otherwise);
  return { fileData: { fileUri: url, ...(mimeType ? { mimeType } : {}) } };
}

function soundOf({ input_audio }: ChatContentPart): GeminiPart | undefined {
  return input_audio && { inlineData: { mimeType: `audio/${input_audio.format}`, data: input_audio.data } };
}

function fileOf({ file_data, file_id, filename }: Record<string, unknown>): GeminiPart | undefined {
  const named = typeof filename === 'string' ? mimeTypeOf(filename) : undefined;
  if (typeof file_data === 'string') {
    const inlineData = parseDataUrl(file_data) ?? { mimeType: named ?? 'application/pdf', data: file_data };
    return { inlineData };
  }
  return typeof file_id === 'string' ? mediaOf(file_id, named ?? 'application/pdf') : undefined;
}
