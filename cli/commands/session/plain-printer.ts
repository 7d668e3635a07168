import type { OutputStream } from '../../ui/terminal.ts';
import { EventView } from './event-view.ts';
import type { AgentEvent } from './feed.ts';

/** The most of a line that no terminal shows. */
const LONGEST_LINE = 500;

/** Where events are printed. */
export interface PrinterWish {
  /** The agent's words. */
  readonly words: OutputStream;
  /** Everything else. */
  readonly lines: OutputStream;
  /** Also where turns and calls begin. */
  readonly full: boolean;
}

/** Prints events one below the other, so that they can be scrolled and piped. */
export class PlainPrinter {
  private readonly view: EventView;
  private isInWords = false;

  constructor(private readonly wish: PrinterWish) {
    const { lines, full } = wish;
    const columns = () => (lines.isTty ? lines.columns : LONGEST_LINE);
    this.view = new EventView({ style: lines.style, columns, full });
  }

  async take(event: AgentEvent): Promise<void> {
    const { words, lines } = this.wish;
    for (const piece of this.view.take(event)) {
      if ('text' in piece) {
        if (piece.text === '') continue;
        this.isInWords = !piece.text.endsWith('\n');
        if (!words.write(piece.text)) await words.drained();
      } else {
        await this.end();
        if (!lines.write(`${piece.line}\n`)) await lines.drained();
      }
    }
  }

  /** What follows begins on a line of its own. */
  async end(): Promise<void> {
    if (!this.isInWords) return;
    this.isInWords = false;
    this.wish.words.write('\n');
    await this.wish.words.flush();
  }
}
