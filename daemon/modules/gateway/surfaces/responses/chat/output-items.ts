import { newId } from '../../../../../../src/kit/id.ts';
import type { Item } from '../wire.ts';
import { sealContent } from './sealed.ts';

/** Tells of one event; it is numbered by the one who is told. */
export type Tell = (type: string, fields: Readonly<Record<string, unknown>>) => void;

/** How an item ends: as it should, or because the whole answer was cut off. */
export type ItemStatus = 'completed' | 'incomplete';

/** An item of an answer while the model is still at it. */
export interface OpenItem {
  /** The item as far as it has come. */
  shown(status: 'in_progress' | ItemStatus): Item;
  /** Tells of its end. Nothing is added after it. */
  finish(status: ItemStatus): void;
}

type TextPart = { type: 'output_text'; text: string; annotations: unknown[]; logprobs: unknown[] };
type RefusalPart = { type: 'refusal'; refusal: string };

/** What the model says: text and refusals, a part for each run of one kind. */
export class MessageItem implements OpenItem {
  readonly id = newId('msg');
  private readonly parts: Array<TextPart | RefusalPart> = [];

  constructor(
    private readonly index: number,
    private readonly tell: Tell,
  ) {
    tell('response.output_item.added', { output_index: index, item: this.shown('in_progress') });
  }

  /** More text; `logprobs` of its tokens where they were asked for. */
  text(delta: string, logprobs: readonly unknown[]): void {
    const part = this.textPart();
    part.text += delta;
    part.logprobs.push(...logprobs);
    this.tellPart('response.output_text.delta', { delta, logprobs });
  }

  refusal(delta: string): void {
    this.refusalPart().refusal += delta;
    this.tellPart('response.refusal.delta', { delta });
  }

  /** Where text that was said comes from. */
  annotation(annotation: unknown): void {
    const part = this.textPart();
    part.annotations.push(annotation);
    const annotation_index = part.annotations.length - 1;
    this.tellPart('response.output_text.annotation.added', { annotation, annotation_index });
  }

  shown(status: 'in_progress' | ItemStatus): Item {
    return { id: this.id, type: 'message', status, role: 'assistant', content: this.parts.map(copyOf) };
  }

  finish(status: ItemStatus): void {
    this.closePart();
    this.tell('response.output_item.done', { output_index: this.index, item: this.shown(status) });
  }

  private textPart(): TextPart {
    const last = this.parts.at(-1);
    return last?.type === 'output_text'
      ? last
      : this.openPart({ type: 'output_text', text: '', annotations: [], logprobs: [] });
  }

  private refusalPart(): RefusalPart {
    const last = this.parts.at(-1);
    return last?.type === 'refusal' ? last : this.openPart({ type: 'refusal', refusal: '' });
  }

  private openPart<P extends TextPart | RefusalPart>(part: P): P {
    this.closePart();
    this.parts.push(part);
    this.tellPart('response.content_part.added', { part: copyOf(part) });
    return part;
  }

  private closePart(): void {
    const part = this.parts.at(-1);
    if (!part) return;
    if (part.type === 'refusal') this.tellPart('response.refusal.done', { refusal: part.refusal });
    else this.tellPart('response.output_text.done', { text: part.text, logprobs: [...part.logprobs] });
    this.tellPart('response.content_part.done', { part: copyOf(part) });
  }

  private tellPart(type: string, fields: Readonly<Record<string, unknown>>): void {
    const content_index = this.parts.length - 1;
    this.tell(type, { item_id: this.id, output_index: this.index, content_index, ...fields });
  }
}

/** What the model thinks, as one summary; and what its provider wants back to go on from it, sealed in `encrypted_content`. */
export class ReasoningItem implements OpenItem {
  readonly id = newId('rs');
  private thought = '';
  private readonly kept: unknown[] = [];

  constructor(
    private readonly index: number,
    private readonly tell: Tell,
  ) {
    tell('response.output_item.added', { output_index: index, item: this.shown('in_progress') });
  }

  text(delta: string): void {
    if (this.thought === '')
      this.tellSummary('response.reasoning_summary_part.added', { part: { type: 'summary_text', text: '' } });
    this.thought += delta;
    this.tellSummary('response.reasoning_summary_text.delta', { delta });
  }

  keep(items: readonly unknown[]): void {
    this.kept.push(...items);
  }

  shown(_status: 'in_progress' | ItemStatus): Item {
    return {
      id: this.id,
      type: 'reasoning',
      summary: this.thought === '' ? [] : [{ type: 'summary_text', text: this.thought }],
      ...(this.kept.length === 0 ? {} : { encrypted_content: sealContent(this.kept) }),
    };
  }

  finish(status: ItemStatus): void {
    if (this.thought !== '') {
      this.tellSummary('response.reasoning_summary_text.done', { text: this.thought });
      const part = { type: 'summary_text', text: this.thought };
      this.tellSummary('response.reasoning_summary_part.done', { part });
    }
    this.tell('response.output_item.done', { output_index: this.index, item: this.shown(status) });
  }

  private tellSummary(type: string, fields: Readonly<Record<string, unknown>>): void {
    this.tell(type, { item_id: this.id, output_index: this.index, summary_index: 0, ...fields });
  }
}

/** A function that the model wants called. */
export class CallItem implements OpenItem {
  readonly id = newId('fc');
  private given = '';

  constructor(
    private readonly index: number,
    private readonly tell: Tell,
    private readonly callId: string,
    private name: string,
  ) {
    tell('response.output_item.added', { output_index: index, item: this.shown('in_progress') });
  }

  /** More of its name, which comes whole from all but a few providers, and of its arguments. */
  add(name: string, delta: string): void {
    this.name += name;
    if (delta === '') return;
    this.given += delta;
    const of = { item_id: this.id, output_index: this.index };
    this.tell('response.function_call_arguments.delta', { ...of, delta });
  }

  shown(status: 'in_progress' | ItemStatus): Item {
    return {
      id: this.id,
      type: 'function_call',
      status,
      call_id: this.callId,
      name: this.name,
      arguments: this.given,
    };
  }

  finish(status: ItemStatus): void {
    const of = { item_id: this.id, output_index: this.index };
    this.tell('response.function_call_arguments.done', { ...of, name: this.name, arguments: this.given });
    this.tell('response.output_item.done', { output_index: this.index, item: this.shown(status) });
  }
}

/** A picture that the model has made, which comes whole. `result` is base64. */
export function tellPicture(index: number, tell: Tell, result: string): Item {
  const item = { id: newId('ig'), type: 'image_generation_call', status: 'completed', result };
  const begun = { ...item, status: 'in_progress', result: null };
  tell('response.output_item.added', { output_index: index, item: begun });
  tell('response.output_item.done', { output_index: index, item });
  return item;
}

function copyOf<P extends TextPart | RefusalPart>(part: P): P {
  return part.type === 'refusal'
    ? { ...part }
    : { ...part, annotations: [...part.annotations], logprobs: [...part.logprobs] };
}
