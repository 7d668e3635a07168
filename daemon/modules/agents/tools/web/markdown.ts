type Attributes = Readonly<Record<string, string>>;

/** Elements that begin on a line of their own. */
const BLOCKS = new Set([
  ...[
    'address',
    'article',
    'aside',
    'body',
    'caption',
    'center',
    'dd',
    'details',
    'div',
    'dl',
    'dt',
    'fieldset',
  ],
  ...[
    'figcaption',
    'figure',
    'form',
    'header',
    'html',
    'legend',
    'main',
    'section',
    'summary',
    'tbody',
    'thead',
  ],
  ...[
    'p',
    'pre',
    'table',
    'tr',
    'ul',
    'ol',
    'li',
    'blockquote',
    'hr',
    'br',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
  ],
]);
/** Elements with an empty line around them. */
const APART = new Set([
  'p',
  'pre',
  'table',
  'blockquote',
  'hr',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
]);
/** What stands before and behind words. */
const MARKS: Readonly<Record<string, string>> = { strong: '**', b: '**', em: '*', i: '*', code: '`' };
const MOST_INDENT = 8;
const MOST_ADDRESS = 500;

/** Writes Markdown from the tags and the text of a page, in their order. */
export class MarkdownWriter {
  private readonly parts: string[] = [];
  private written = 0;
  /** Line ends that come before the next word. */
  private breaks = 0;
  /** What begins the line that they begin. */
  private before = '';
  private isSpace = false;
  private readonly lists: Array<{ readonly isNumbered: boolean; count: number }> = [];
  private quotes = 0;
  private pre = 0;
  private cells = 0;
  private readonly marks = new Set<string>();
  /** Where links lead that are open, and where their words begin, once they have any. */
  private readonly links: Array<{ readonly to: string; at?: number }> = [];

  constructor(private readonly base: string) {}

  /** Characters that were written. */
  get length(): number {
    return this.written;
  }

  open(name: string, attributes: Attributes): void {
    if (BLOCKS.has(name)) this.breakLine(APART.has(name) && this.lists.length === 0 ? 2 : 1);
    if (/^h[1-6]$/.test(name)) this.mayPut(`${'#'.repeat(Number(name[1]))} `);
    else if (name === 'ul' || name === 'ol') this.lists.push({ isNumbered: name === 'ol', count: 0 });
    else if (name === 'li') this.mayPut(this.bullet());
    else if (name === 'blockquote') this.quotes++;
    else if (name === 'pre') this.openCode();
    else if (name === 'tr') this.cells = 0;
    else if (name === 'td' || name === 'th') this.openCell();
    else if (name === 'hr') this.put('---');
    else if (name === 'img') this.image(attributes);
    else if (name === 'a') this.links.push({ to: this.address(attributes.href) });
    else this.mark(name);
  }

  close(name: string): void {
    if (name === 'a') this.closeLink();
    else if (name === 'pre') this.closeCode();
    else if (name === 'blockquote') this.quotes = Math.max(this.quotes - 1, 0);
    else if (name === 'ul' || name === 'ol') this.lists.pop();
    else this.mark(name);
    if (BLOCKS.has(name)) this.breakLine(APART.has(name) && this.lists.length === 0 ? 2 : 1);
  }

  text(text: string): void {
    if (this.pre > 0) {
      this.put(text);
      return;
    }
    const words = text.replace(/[\s\u00a0]+/g, ' ');
    if (words === '') return;
    if (words.startsWith(' ')) this.isSpace = true;
    const bare = words.trim();
    if (bare === '') return;
    this.put(bare);
    this.isSpace = words.endsWith(' ');
  }

  end(): string {
    return this.parts.join('').trim();
  }

  /** What stands before the next words, if any come in this line. */
  private mayPut(words: string): void {
    this.before = words;
  }

  /** Words, behind the line ends or the space that are due. */
  private put(words: string): void {
    const isStart = this.parts.length === 0;
    if (this.breaks > 0 || isStart) {
      const breaks = isStart ? '' : '\n'.repeat(this.breaks);
      this.write(`${breaks}${'> '.repeat(Math.min(this.quotes, MOST_INDENT))}${this.before}`);
    } else if (this.isSpace) this.write(' ');
    this.breaks = 0;
    this.before = '';
    this.isSpace = false;
    const link = this.links.at(-1);
    if (link) link.at ??= this.parts.length;
    this.write(words);
  }

  private write(text: string): void {
    this.parts.push(text);
    this.written += text.length;
  }

  private breakLine(lines: number): void {
    if (this.pre > 0) return;
    this.breaks = Math.max(this.breaks, lines);
    this.isSpace = false;
    this.before = '';
  }

  private bullet(): string {
    const list = this.lists.at(-1);
    const indent = '  '.repeat(Math.min(Math.max(this.lists.length - 1, 0), MOST_INDENT));
    if (!list?.isNumbered) return `${indent}- `;
    list.count++;
    return `${indent}${list.count}. `;
  }

  private openCode(): void {
    if (this.pre === 0) this.put('```\n');
    this.pre++;
  }

  private closeCode(): void {
    this.pre = Math.max(this.pre - 1, 0);
    if (this.pre === 0) this.write('\n```');
  }

  private openCell(): void {
    if (this.cells++ > 0) this.put(' | ');
  }

  /** In code, marks would be letters. */
  private mark(name: string): void {
    const mark = MARKS[name];
    if (mark === undefined || this.pre > 0) return;
    const isOpening = !this.marks.has(name);
    if (isOpening) {
      this.put(mark);
      this.marks.add(name);
      return;
    }
    this.marks.delete(name);
    this.write(mark);
  }

  private image({ alt = '' }: Attributes): void {
    const said = alt.replace(/\s+/g, ' ').trim();
    if (said !== '') this.put(`[image: ${said.slice(0, MOST_ADDRESS)}]`);
  }

  /** A link without words, or to a place in the page, is none. */
  private closeLink(): void {
    const link = this.links.pop();
    if (!link || link.to === '' || link.at === undefined) return;
    const words = this.parts.splice(link.at).join('').replaceAll('\n', ' ').trim();
    this.parts.push(`[${words}](${link.to})`);
    this.written += link.to.length + 4;
  }

  private address(href: string | undefined): string {
    if (href === undefined || href.startsWith('#')) return '';
    const url = URL.parse(href, this.base);
    const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
    return url && isWeb && url.href.length <= MOST_ADDRESS ? url.href : '';
  }
}
