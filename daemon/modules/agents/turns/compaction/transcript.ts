import type { ChatMessage } from '../../../gateway/index.ts';
import type { HeldMessage } from './blocks.ts';

/** The shortest and the longest form in which a message stands in a transcript, in characters. */
const LEAST = 200;
const MOST = 8_000;

/**
 * Messages as text for a model that has to sum them up, of about so many characters at most: long ones lose their middle. Each line
 * of a message stands behind a bar, so that nothing in it can pass for the words of somebody else.
 */
export function transcriptOf(messages: readonly HeldMessage[], characters: number): string {
  const most = Math.min(MOST, Math.max(LEAST, Math.floor(characters / Math.max(1, messages.length))));
  return messages.map((one) => `${whoOf(one)}:\n${quoted(shortened(textOf(one.message), most))}`).join('\n');
}

/** The text in a message: parts that are no text are named in their place. */
export function textIn(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ type, text }) => text ?? `[${type}]`).join('\n');
}

function whoOf({ message: { role, tool_call_id: id }, isSummary }: HeldMessage): string {
  if (isSummary) return 'earlier summary';
  return role === 'tool' ? `result of call ${JSON.stringify(id ?? '')}` : role;
}

function textOf({ content, tool_calls = [] }: ChatMessage): string {
  const calls = tool_calls.map(
    ({ id, function: called }) =>
      `calls ${called?.name ?? 'a tool'} (call ${JSON.stringify(id)}) with ${called?.arguments ?? '{}'}`,
  );
  return [textIn(content), ...calls].filter((text) => text !== '').join('\n');
}

function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil(most / 2);
  const left = text.length - most;
  return `${text.slice(0, head)}\n[${left} characters left out]\n${text.slice(head + left)}`;
}

function quoted(text: string): string {
  return text.replace(/^/gm, '| ');
}
