/** A message as it comes over the wire. */
export interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly WireCall[];
  readonly tool_call_id?: unknown;
}

/** A call in an assistant's message. */
export interface WireCall {
  readonly id: string;
  readonly type: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A conversation that no loop that works would send. */
export class Violation extends Error {}

/** What was said before the first answer, and what comes after it. */
interface Parts {
  readonly system: string;
  readonly rest: readonly WireMessage[];
}

/** The text of a message. Errors: Violation, when it has another content. */
export function textOf({ content, role }: WireMessage): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new Violation(`the content of a message of ${role} is no text`);
  return content.map((part: { text?: string }) => part.text ?? '').join('');
}

/** The system prompt, and the conversation without it. */
export function partsOf(messages: readonly WireMessage[]): Parts {
  const at = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const head = messages.slice(0, at < 0 ? messages.length : at);
  return { system: head.map(textOf).join('\n'), rest: messages.slice(head.length) };
}
