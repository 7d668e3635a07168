import { usageInText } from './chat-usage.ts';
import { Tail } from './tail.ts';
import type { Usage } from './usage.ts';

const MARK = Buffer.from('"usage":');
const DONE = Buffer.from('[DONE]');
const FINISHED = /"finish_reason"\s*:\s*"[^"]/;
/** Room for the last events: the reason of the end and the usage. */
const TAIL_BYTES = 8 * 1024;
const LINE_FEED = 0x0a;
const OPEN_BRACE = 0x7b;
const SPACE = 0x20;
const NO_CHOICES = /"choices"\s*:\s*\[\s*\]/;

/**
 * Reads the usage out of the events of the chat family as they pass, and takes out the event that has nothing else when the
 * caller did not ask for it. Events without usage are not parsed, and not even decoded.
 */
export class UsageFilter {
  usage: Usage | undefined;
  private isDone = false;
  private readonly tail = new Tail(TAIL_BYTES);
  /** Events that have passed: about as many as tokens. */
  events = 0;

  constructor(private readonly shows: boolean) {}

  /** The stream has said that it is complete, or why its answer has ended: not everybody who does that says the other. */
  get isComplete(): boolean {
    return this.isDone || FINISHED.test(this.tail.text());
  }

  /** What passes of some whole lines; undefined when nothing does. */
  passing(piece: Uint8Array): Uint8Array | undefined {
    const lines = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    this.events += countEvents(lines);
    this.tail.push(piece);
    this.isDone ||= lines.includes(DONE);
    return reportsUsage(lines) ? this.withUsage(lines) : piece;
  }

  private withUsage(lines: Buffer): Uint8Array | undefined {
    const kept = lines
      .toString()
      .split('\n')
      .filter((line) => !this.takesOut(line));
    const text = kept.join('\n');
    return text.trim() === '' ? undefined : Buffer.from(text);
  }

  /** The blank line after an event that is taken out stays: it ends nothing. */
  private takesOut(line: string): boolean {
    if (!line.startsWith('data:') || !line.includes('"usage"')) return false;
    const data = line.slice('data:'.length);
    const usage = usageInText(data);
    if (usage) this.usage = usage;
    return usage !== undefined && !this.shows && NO_CHOICES.test(data);
  }
}

/** Whether there is a usage in it that is not null. */
function reportsUsage(lines: Buffer): boolean {
  for (let at = lines.indexOf(MARK); at >= 0; at = lines.indexOf(MARK, at + 1)) {
    let next = at + MARK.length;
    while (lines[next] === SPACE) next++;
    if (lines[next] === OPEN_BRACE) return true;
  }
  return false;
}

/** Every second line is blank. */
function countEvents(lines: Buffer): number {
  let count = 0;
  for (let at = lines.indexOf(LINE_FEED); at >= 0; at = lines.indexOf(LINE_FEED, at + 1)) count++;
  return count / 2;
}
