import type { ChatMessage } from '../../gateway/index.ts';
import type { CallRow } from './tables.ts';

/** Calls that one answer may ask for. */
const MOST_CALLS = 64;
/** The longest name of a tool, and the longest id that a provider may give a call, in characters. */
const MOST_NAME = 256;
/** Characters of arguments that the calls of one answer may have together: a person may have to look at all of them at once. */
const MOST_ARGUMENTS = 1024 * 1024;
/** What a message keeps beside its text and calls, to be given back. */
const KEPT = ['refusal', 'reasoning_content', 'provider_content', 'images', 'annotations'];

type Call = NonNullable<ChatMessage['tool_calls']>[number];

/** A call that a model asks for. */
export type AskedCall = Pick<CallRow, 'id' | 'modelId' | 'name' | 'args'>;

/**
 * An answer of a model as it is kept, and its calls. Providers are not believed: whatever an answer says of its role, it is the
 * assistant's; what is no text where text belongs is written as text; ids that are missing, too long or there twice are replaced.
 */
export function readAnswer(
  said: ChatMessage,
  newCallId: () => string,
): { readonly message: ChatMessage; readonly calls: readonly AskedCall[] } {
  const calls = callsIn(said, newCallId);
  const message: ChatMessage = { ...keptOf(said), role: 'assistant', content: contentOf(said) };
  if (calls.length === 0) return { message: { ...message, content: message.content ?? '' }, calls };
  const named = calls.map(
    ({ call, modelId, name, args }): Call => ({
      ...call,
      id: modelId,
      type: 'function',
      function: { ...call.function, name, arguments: args },
    }),
  );
  return { message: { ...message, tool_calls: named }, calls: calls.map(({ call: _, ...one }) => one) };
}

function callsIn({ tool_calls: asked }: ChatMessage, newCallId: () => string) {
  const list: readonly Call[] = Array.isArray(asked) ? asked : [];
  const seen = new Set<string>();
  const asking = list.filter((call) => call?.function).slice(0, MOST_CALLS);
  return fitting(asking).map((call) => {
    const id = newCallId();
    const given = textOf(call.id);
    const isGood = given !== '' && given.length <= MOST_NAME && !seen.has(given);
    const modelId = isGood ? given : id;
    seen.add(modelId);
    const { name, arguments: args } = call.function ?? {};
    return { call, id, modelId, name: textOf(name).slice(0, MOST_NAME), args: textOf(args) };
  });
}

function fitting(calls: readonly Call[]): readonly Call[] {
  let room = MOST_ARGUMENTS;
  return calls.filter((call, at) => {
    room -= textOf(call.function?.arguments).length;
    return room >= 0 || at === 0;
  });
}

function contentOf({ content }: ChatMessage): ChatMessage['content'] {
  return Array.isArray(content) || content === null || content === undefined ? content : textOf(content);
}

function keptOf(said: ChatMessage): Partial<ChatMessage> {
  return Object.fromEntries(Object.entries(said).filter(([name]) => KEPT.includes(name)));
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
