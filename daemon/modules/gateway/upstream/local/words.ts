import type { ChatRequest } from '../../wire/chat.ts';

type Message = ChatRequest['messages'][number];

/** The words of a text, each with the white space after it; joined again they are the text. */
export function wordsOf(text: string): string[] {
  return text.match(/^\s+(?=\S)|\S+\s*/g) ?? (text === '' ? [] : [text]);
}

/** The text of a message: its content, or the text parts of it. */
export function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('');
}

/** How many words a text has. */
export function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
