import { Parser } from 'htmlparser2';
import { MarkdownWriter } from './markdown.ts';

/** A page as a person would read it. */
export interface Readable {
  readonly title: string;
  /** Markdown. */
  readonly text: string;
  /** Not all of it was read: there is too much, or it is nested too deep. */
  readonly isCut: boolean;
}

/** Elements whose content nobody reads, and what surrounds a page. */
const SKIPPED = new Set([
  ...[
    'script',
    'style',
    'noscript',
    'template',
    'svg',
    'math',
    'iframe',
    'object',
    'canvas',
    'audio',
    'video',
  ],
  ...['select', 'button', 'textarea', 'dialog', 'nav', 'footer'],
]);
const MOST_TITLE = 300;
const MOST_TEXT = 2 * 1024 * 1024;
/** Characters that are read before others run. */
const STEP = 16 * 1024;
/** Elements in each other: a parser takes longer for each, the deeper it is. */
const MOST_DEPTH = 512;
/** A main part that is shorter is not what the page is about. */
const LEAST_MAIN = 500;

/** Makes Markdown of HTML as it comes, without ever holding its tree; others run in between. `base` is its address. */
export async function readableOf(html: AsyncIterable<string>, base: string): Promise<Readable> {
  const page = new PageReader(base);
  for await (const part of html) if (!(await takeIn(page, part))) break;
  return page.end();
}

/** Hands a page HTML with others in between; false when that is enough. */
async function takeIn(page: PageReader, html: string): Promise<boolean> {
  for (let at = 0; at < html.length; at += STEP) {
    if (!page.take(html.slice(at, at + STEP))) return false;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return true;
}

class PageReader {
  private title = '';
  private isTitle = false;
  /** Elements that are open inside one that is skipped, itself included. */
  private skipped = 0;
  /** Elements that are open inside the main part, itself included. */
  private mainDepth = 0;
  private depth = 0;
  private isCut = false;
  private readonly whole: MarkdownWriter;
  private readonly main: MarkdownWriter;
  private readonly parser: Parser;

  constructor(base: string) {
    this.whole = new MarkdownWriter(base);
    this.main = new MarkdownWriter(base);
    this.parser = new Parser({
      onopentag: (name, attributes) => this.open(name, attributes),
      onclosetag: (name) => this.close(name),
      ontext: (text) => this.text(text),
    });
  }

  /** Takes HTML; false when that is enough. */
  take(html: string): boolean {
    if (!this.isCut) this.parser.write(html);
    this.isCut ||= this.whole.length >= MOST_TEXT || this.depth > MOST_DEPTH;
    return !this.isCut;
  }

  end(): Readable {
    this.parser.end();
    const main = this.main.end();
    const text = main.length >= LEAST_MAIN ? main : this.whole.end();
    return { title: this.title.replace(/\s+/g, ' ').trim().slice(0, MOST_TITLE), text, isCut: this.isCut };
  }

  private open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.depth++;
    if (this.skipped > 0 || SKIPPED.has(name) || isHidden(attributes)) {
      this.skipped++;
      return;
    }
    if (name === 'title') this.isTitle = this.title === '';
    if (this.mainDepth > 0 || name === 'main' || name === 'article') this.mainDepth++;
    this.whole.open(name, attributes);
    if (this.mainDepth > 0) this.main.open(name, attributes);
  }

  private close(name: string): void {
    this.depth--;
    if (this.skipped > 0) {
      this.skipped--;
      return;
    }
    if (name === 'title') this.isTitle = false;
    this.whole.close(name);
    if (this.mainDepth === 0) return;
    this.main.close(name);
    this.mainDepth--;
  }

  private text(text: string): void {
    if (this.skipped > 0) return;
    if (this.isTitle) {
      if (this.title.length < MOST_TITLE) this.title += text;
      return;
    }
    this.whole.text(text);
    if (this.mainDepth > 0) this.main.text(text);
  }
}

/** What people do not see is not told to a model either: it is where instructions are hidden. */
function isHidden({
  hidden,
  style = '',
  'aria-hidden': ariaHidden,
}: Readonly<Record<string, string>>): boolean {
  if (hidden !== undefined || ariaHidden === 'true') return true;
  return /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style);
}
