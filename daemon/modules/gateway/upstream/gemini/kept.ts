import type { ChatMessage } from '../../wire/chat.ts';
import { isObject } from '../translate/content.ts';
import type { GeminiPart } from './wire.ts';

/** A signature of a call, or word that its id is the model's own and may go back. */
export interface KeptCall {
  readonly type: 'google.call';
  readonly call: string;
  readonly signature?: string;
  readonly own?: boolean;
}

/** A signature of the text between two offsets, in UTF-16 units of the message's content. */
export interface KeptText {
  readonly type: 'google.text';
  readonly from: number;
  readonly to: number;
  readonly signature: string;
}

/** A part that has no other place in a message: it goes back where it stood. */
export interface KeptPart {
  readonly type: 'google.part';
  readonly at: number;
  readonly part: GeminiPart;
}

/**
 * What `provider_content` carries of an answer of this dialect. Signatures are bound to the part that they came with, so
 * each entry says which one that is; texts and calls themselves are not repeated.
 */
export type Kept = KeptCall | KeptText | KeptPart;

/** The entries of this dialect; those of others, and broken ones, are left out. */
export function keptOf({ provider_content }: ChatMessage): Kept[] {
  return (provider_content ?? []).filter(isKept);
}

function isKept(value: unknown): value is Kept {
  if (!isObject(value)) return false;
  if (value.type === 'google.call')
    return typeof value.call === 'string' && isSignature(value.signature ?? '');
  if (value.type === 'google.text')
    return isOffset(value.from) && isOffset(value.to) && isSignature(value.signature);
  return value.type === 'google.part' && isOffset(value.at) && isObject(value.part);
}

const isSignature = (value: unknown) => typeof value === 'string';
const isOffset = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;

/** The parts of a text with what belongs between and to its pieces. */
export function signedText(text: string, kept: readonly Kept[]): GeminiPart[] {
  const parts: GeminiPart[] = [];
  let at = 0;
  const upTo = (end: number) => {
    if (end > at) parts.push({ text: text.slice(at, end) });
    at = Math.max(at, end);
  };
  for (const entry of kept) {
    if (entry.type === 'google.part') {
      upTo(Math.min(entry.at, text.length));
      parts.push(entry.part);
    } else if (entry.type === 'google.text' && entry.from >= at && entry.to <= text.length) {
      upTo(entry.from);
      parts.push({ text: text.slice(entry.from, entry.to), thoughtSignature: entry.signature });
      at = Math.max(at, entry.to);
    }
  }
  upTo(text.length);
  return parts;
}
