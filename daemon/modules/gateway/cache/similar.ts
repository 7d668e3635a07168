import { likeness, type Print } from './likeness.ts';
import type { RequestKey } from './request-key.ts';

interface Entry {
  readonly key: RequestKey;
  readonly print: Print;
}

/** Most texts of a tenant, and of all tenants, that are compared. The oldest go first. */
const MOST_OF_TENANT = 10_000;
const MOST_BYTES = 128 * 1024 * 1024;
/** Comparisons before others have their turn. */
const SLICE = 1000;

/** The texts of kept requests of one tenant, by what else their requests say. */
class Book {
  readonly contexts = new Map<string, Map<string, Entry>>();
  /** Places in the order in which they came, with the context that each is in. */
  readonly order = new Map<string, string>();
  bytes = 0;
}

/** Finds kept requests that say nearly the same. In memory; bounded. */
export class SimilarRequests {
  private readonly books = new Map<string, Book>();
  private bytes = 0;

  /** The likest of the requests with the same context that is at least that like; undefined when there is none. */
  async nearest(
    tenant: string,
    context: string,
    print: Print,
    threshold: number,
  ): Promise<RequestKey | undefined> {
    const entries = [...(this.books.get(tenant)?.contexts.get(context)?.values() ?? [])];
    let best: Entry | undefined;
    let most = threshold;
    for (const [index, entry] of entries.entries()) {
      if (index > 0 && index % SLICE === 0) await new Promise(setImmediate);
      const value = likeness(print, entry.print, most);
      if (value < most) continue;
      [best, most] = [entry, value];
    }
    return best?.key;
  }

  add(tenant: string, context: string, key: RequestKey, print: Print): void {
    const book = this.books.get(tenant) ?? new Book();
    this.books.set(tenant, book);
    this.remove(book, key.place);
    const entries = book.contexts.get(context) ?? new Map<string, Entry>();
    book.contexts.set(context, entries);
    entries.set(key.place, { key, print });
    book.order.set(key.place, context);
    book.bytes += print.values.byteLength;
    this.bytes += print.values.byteLength;
    while (book.order.size > MOST_OF_TENANT) this.removeOldest(book);
    while (this.bytes > MOST_BYTES) this.removeOldest(largest(this.books.values()));
  }

  /** Its answer is gone. */
  forget(tenant: string, { place }: RequestKey): void {
    const book = this.books.get(tenant);
    if (book) this.remove(book, place);
  }

  clear(tenant: string): void {
    this.bytes -= this.books.get(tenant)?.bytes ?? 0;
    this.books.delete(tenant);
  }

  /** How many texts of a tenant are compared. */
  count(tenant: string): number {
    return this.books.get(tenant)?.order.size ?? 0;
  }

  private removeOldest(book: Book): void {
    const [oldest] = book.order.keys();
    if (oldest !== undefined) this.remove(book, oldest);
  }

  private remove(book: Book, place: string): void {
    const context = book.order.get(place);
    if (context === undefined) return;
    const entries = book.contexts.get(context);
    const bytes = entries?.get(place)?.print.values.byteLength ?? 0;
    entries?.delete(place);
    if (entries?.size === 0) book.contexts.delete(context);
    book.order.delete(place);
    book.bytes -= bytes;
    this.bytes -= bytes;
  }
}

function largest(books: Iterable<Book>): Book {
  return [...books].reduce((a, b) => (b.bytes > a.bytes ? b : a));
}
