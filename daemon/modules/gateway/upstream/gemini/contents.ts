import type { ChatMessage, ChatRequest } from '../../wire/chat.ts';
import { argumentsOf, isObject, parsed, textOf } from '../translate/content.ts';
import { type KeptCall, keptOf, signedText } from './kept.ts';
import { partsOf } from './parts.ts';
import type { GeminiContent, GeminiPart, GeminiRequest } from './wire.ts';

/** Accepted in place of a signature for calls that another model has made (Gemini API: Thought signatures). */
const FOREIGN_CALL = 'skip_thought_signature_validator';

/** The conversation. System and developer messages become the one instruction, wherever they stand. */
export function toContents({
  messages,
  model,
}: ChatRequest): Pick<GeminiRequest, 'contents' | 'systemInstruction'> {
  const conversation = new Conversation(wantsSignatures(model));
  for (const message of messages) conversation.add(message);
  return conversation.done();
}

/** From its third generation on a call without a signature is refused. */
function wantsSignatures(model: string): boolean {
  const generation = /gemini-(\d+)/.exec(model)?.[1];
  return generation !== undefined && Number(generation) >= 3;
}

/** A call as its result needs to know it. */
interface Called {
  readonly name: string;
  /** Its id is the model's own. */
  readonly own: boolean;
  readonly place: number;
}

/** A result stands where its call stood, because calls of one name are told apart by their order alone. */
interface Result {
  readonly place: number;
  readonly parts: readonly GeminiPart[];
}

class Conversation {
  private readonly contents: GeminiContent[] = [];
  private readonly instruction: GeminiPart[] = [];
  private readonly calls = new Map<string, Called>();
  /** The turn that takes further results of the same calls, and its results. */
  private results: { readonly turn: GeminiContent; readonly entries: Result[] } | undefined;

  constructor(private readonly signs: boolean) {}

  add(message: ChatMessage): void {
    const isResult = message.role === 'tool' || message.role === 'function';
    if (!isResult) this.results = undefined;
    if (isResult) this.addResult(message);
    else if (message.role === 'system' || message.role === 'developer') {
      const text = textOf(message.content);
      if (text !== '') this.instruction.push({ text });
    } else if (message.role === 'assistant') this.push('model', this.answered(message));
    else this.push('user', partsOf(message.content));
  }

  /** A conversation of instructions alone says them as the user, because there must be a turn. */
  done(): Pick<GeminiRequest, 'contents' | 'systemInstruction'> {
    if (this.contents.length === 0 && this.instruction.length > 0)
      return { contents: [{ role: 'user', parts: this.instruction }] };
    const systemInstruction = this.instruction.length > 0 ? { parts: this.instruction } : undefined;
    return { contents: this.contents, systemInstruction };
  }

  private push(role: GeminiContent['role'], parts: GeminiPart[]): void {
    if (parts.length > 0) this.contents.push({ role, parts });
  }

  private answered(message: ChatMessage): GeminiPart[] {
    const kept = keptOf(message);
    const media = Array.isArray(message.content)
      ? partsOf(message.content).filter(({ text }) => text === undefined)
      : [];
    return [...signedText(textOf(message.content), kept), ...media, ...this.called(message, kept)];
  }

  private called({ tool_calls }: ChatMessage, kept: ReturnType<typeof keptOf>): GeminiPart[] {
    const known = new Map(
      kept
        .filter((entry): entry is KeptCall => entry.type === 'google.call')
        .map((entry) => [entry.call, entry]),
    );
    const parts = (tool_calls ?? []).flatMap(({ id, function: called }): GeminiPart[] => {
      if (!called) return [];
      const { signature, own = false } = known.get(id) ?? {};
      this.calls.set(id, { name: called.name, own, place: this.calls.size });
      const functionCall = { ...(own ? { id } : {}), name: called.name, args: argumentsOf(called.arguments) };
      return [{ functionCall, ...(signature ? { thoughtSignature: signature } : {}) }];
    });
    const [first] = parts;
    if (this.signs && first && !parts.some(({ thoughtSignature }) => thoughtSignature))
      first.thoughtSignature = FOREIGN_CALL;
    return parts;
  }

  private addResult({ tool_call_id: id = '', name, content }: ChatMessage): void {
    const call = this.calls.get(id);
    const functionResponse = {
      ...(call?.own ? { id } : {}),
      name: call?.name ?? name ?? id,
      response: resultOf(textOf(content)),
    };
    const media = Array.isArray(content) ? partsOf(content).filter(({ text }) => text === undefined) : [];
    const turn: GeminiContent = this.results?.turn ?? { role: 'user', parts: [] };
    if (!this.results) this.contents.push(turn);
    this.results ??= { turn, entries: [] };
    this.results.entries.push({
      place: call?.place ?? this.calls.size,
      parts: [{ functionResponse }, ...media],
    });
    turn.parts = this.results.entries
      .toSorted((one, other) => one.place - other.place)
      .flatMap(({ parts }) => parts);
  }
}

/** A result must be an object: another value goes as its `output`. */
function resultOf(text: string): Record<string, unknown> {
  const value = parsed(text);
  return isObject(value) ? value : { output: value ?? text };
}
