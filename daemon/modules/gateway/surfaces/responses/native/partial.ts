import { isObject } from '../../../upstream/translate/content.ts';
import type { Item, ResponseEvent } from '../wire.ts';

type Draft = Record<string, unknown>;

/**
 * What unfinished items have come to: built up from the events of a stream that broke off. Events of kinds that are not known here
 * leave their item as it was added.
 */
export function unfinished(events: readonly ResponseEvent[]): Item[] {
  const drafts = new Map<unknown, Draft>();
  for (const event of events) {
    if (event.type === 'response.output_item.added' && isObject(event.item))
      drafts.set(event.output_index, structuredClone(event.item));
    else if (event.type === 'response.output_item.done') drafts.delete(event.output_index);
    else grow(drafts.get(event.output_index), event);
  }
  return [...drafts.values()].map((draft) => ({ ...draft, status: 'incomplete' }));
}

function grow(draft: Draft | undefined, event: ResponseEvent): void {
  if (!draft) return;
  const { type, delta } = event;
  if (type === 'response.function_call_arguments.delta') append(draft, 'arguments', delta);
  else if (type === 'response.content_part.added') place(draft, 'content', event.content_index, event.part);
  else if (type === 'response.reasoning_summary_part.added')
    place(draft, 'summary', event.summary_index, event.part);
  else if (type === 'response.output_text.delta' || type === 'response.reasoning_text.delta')
    append(partOf(draft, 'content', event.content_index), 'text', delta);
  else if (type === 'response.refusal.delta')
    append(partOf(draft, 'content', event.content_index), 'refusal', delta);
  else if (type === 'response.reasoning_summary_text.delta')
    append(partOf(draft, 'summary', event.summary_index), 'text', delta);
}

function place(draft: Draft, list: string, index: unknown, part: unknown): void {
  const parts = Array.isArray(draft[list]) ? draft[list] : [];
  draft[list] = parts;
  if (index === parts.length && isObject(part)) parts.push(structuredClone(part));
}

function partOf(draft: Draft, list: string, index: unknown): Draft | undefined {
  const parts = draft[list];
  const part: unknown = Array.isArray(parts) ? parts[Number(index)] : undefined;
  return isObject(part) ? part : undefined;
}

function append(draft: Draft | undefined, field: string, delta: unknown): void {
  if (draft && typeof delta === 'string') draft[field] = `${draft[field] ?? ''}${delta}`;
}
