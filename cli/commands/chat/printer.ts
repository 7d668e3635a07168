import { formatDuration } from '../../../src/kit/duration.ts';
import { printable } from '../../ui/table.ts';
import type { Terminal } from '../../ui/terminal.ts';
import type { Answer, Listener } from './answer.ts';

const CENTS = 0.01;

/**
 * Prints an answer as it comes: its words as data, and on a terminal what the model thinks before them, dimmed. What a
 * model says must not steer the terminal; in a pipe it is passed as it is.
 */
export class AnswerPrinter implements Listener {
  private isThinking = false;
  private last = '\n';

  constructor(private readonly terminal: Terminal) {}

  reasoning(piece: string): void {
    const { err } = this.terminal;
    if (!err.isTty) return;
    this.isThinking = true;
    err.write(err.style.dim(printable(piece)));
  }

  async text(piece: string): Promise<void> {
    const { out } = this.terminal;
    await this.endThinking();
    this.last = piece.at(-1) ?? this.last;
    if (!out.write(out.isTty ? printable(piece) : piece)) await out.drained();
  }

  /** The answer is over: what follows begins on a line of its own. */
  async end(): Promise<void> {
    await this.endThinking();
    if (this.last !== '\n') this.terminal.out.write('\n');
    this.last = '\n';
    await this.terminal.out.flush();
  }

  private async endThinking(): Promise<void> {
    if (!this.isThinking) return;
    this.isThinking = false;
    this.terminal.err.write('\n\n');
    await this.terminal.err.flush();
  }
}

/** What an answer took, on one line for the person who looks on. */
export function summaryOf(answer: Answer, costUsd: number | undefined): string {
  const { usage, firstMs, totalMs, answeredBy } = answer;
  const cached = usage?.prompt_tokens_details?.cached_tokens;
  const parts = [
    answeredBy,
    usage &&
      `${usage.prompt_tokens}${cached ? ` (${cached} cached)` : ''} in, ${usage.completion_tokens} out`,
    costUsd === undefined ? undefined : dollars(costUsd),
    firstMs === undefined ? undefined : `first words ${formatDuration(firstMs)}`,
    formatDuration(totalMs),
    NOTES[answer.isStopped ? 'stopped' : (answer.finishReason ?? '')],
  ];
  return printable(parts.filter(Boolean).join(' · '));
}

/** Ends of answers that a person should know of. */
const NOTES: Readonly<Record<string, string>> = {
  stopped: 'stopped',
  length: 'cut off at the most tokens',
  content_filter: 'cut off by the provider’s filter',
};

function dollars(usd: number): string {
  if (usd === 0) return '$0';
  return `$${usd < CENTS ? usd.toPrecision(2) : usd.toFixed(3)}`;
}
