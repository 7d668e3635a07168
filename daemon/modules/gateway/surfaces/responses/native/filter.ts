import { parseNested } from '../../../../../../src/kit/nesting.ts';
import { isObject } from '../../../upstream/translate/content.ts';
import { type Item, isEnd, type ResponseEvent, type ResponseObject } from '../wire.ts';
import { asOurs } from './own-fields.ts';

const MARK = Buffer.from('"response"');
const ITEM_DONE = Buffer.from('response.output_item.done');
const DATA = 'data:';
const MOST_HELD_BYTES = 1024 * 1024;

/** What passes of some lines, and the response when they end it. */
export interface Passing {
  readonly bytes: Uint8Array;
  readonly end?: ResponseObject;
}

/**
 * Looks at a vendor's events as they pass. The few that have the whole response in them are made ours; all others pass byte for byte, and are
 * neither parsed nor decoded. What an answer that breaks off has said is read out of them afterwards.
 */
export class NativeFilter {
  /** Items that are finished. */
  readonly items: Item[] = [];
  private held: Uint8Array[] = [];
  private recent: Uint8Array = new Uint8Array();
  private heldBytes = 0;
  /** The last response that has passed. */
  latest: ResponseObject;

  constructor(private readonly base: ResponseObject) {
    this.latest = base;
  }

  /** What passes of some whole lines. */
  passing(lines: Uint8Array): Passing {
    const buffer = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength);
    this.hold(lines);
    if (buffer.includes(DATA)) this.recent = lines;
    if (buffer.includes(ITEM_DONE)) this.readItems();
    return buffer.includes(MARK) ? this.rewritten(buffer.toString()) : { bytes: lines };
  }

  /** The events of the item that was open when the answer broke off. */
  openEvents(): ResponseEvent[] {
    return eventsIn(Buffer.concat(this.held));
  }

  /** The number of an event that comes now. */
  nextNumber(): number {
    const last = eventsIn(this.recent).findLast(({ sequence_number }) => Number.isInteger(sequence_number));
    return last ? last.sequence_number + 1 : 0;
  }

  private rewritten(text: string): Passing {
    let end: ResponseObject | undefined;
    const lines = text.split('\n').map((line) => {
      if (!line.startsWith(DATA) || !line.includes('"response"')) return line;
      const event = eventIn(line);
      if (!event || !isObject(event.response)) return line;
      this.latest = asOurs(event.response as ResponseObject, this.base);
      if (isEnd(event.type)) end = this.latest;
      return `${DATA} ${JSON.stringify({ ...event, response: this.latest })}`;
    });
    const bytes = Buffer.from(lines.join('\n'));
    return end ? { bytes, end } : { bytes };
  }

  private readItems(): void {
    for (const event of this.openEvents())
      if (event.type === 'response.output_item.done' && isObject(event.item))
        this.items.push(event.item as Item);
    this.held = [];
    this.heldBytes = 0;
  }

  /** What is too long to be held is given up: then only finished items are left of an answer that breaks off. */
  private hold(lines: Uint8Array): void {
    this.heldBytes += lines.byteLength;
    if (this.heldBytes <= MOST_HELD_BYTES) this.held.push(lines);
    else if (this.held.length > 0) this.held = [];
  }
}

function eventsIn(lines: Uint8Array): ResponseEvent[] {
  return Buffer.from(lines)
    .toString()
    .split('\n')
    .flatMap((line) => eventIn(line) ?? []);
}

/** The event of a line; undefined when it has none. */
function eventIn(line: string): ResponseEvent | undefined {
  if (!line.startsWith(DATA)) return undefined;
  try {
    const event: unknown = parseNested(line.slice(DATA.length));
    return isObject(event) && typeof event.type === 'string' ? (event as ResponseEvent) : undefined;
  } catch {
    return undefined;
  }
}
