import { type MessagesEvent, type MessagesUsage, mergedUsage, usageOfMessage } from '../../wire/messages.ts';
import type { Usage } from '../../wire/usage.ts';

/** Quotes inside of texts are escaped, so these stand in no answer's own words. */
const USAGE = Buffer.from('"usage"');
const STOP = Buffer.from('"message_stop"');
const LINE_FEED = 0x0a;
/** An event is its name, its data and a blank line. */
const LINES_OF_EVENT = 3;

/** Reads the usage out of the events of a message as they pass. Events without usage are not parsed, and not even decoded. */
export class UsageWatch {
  /** The stream has said that it is complete. */
  isComplete = false;
  private reported: MessagesUsage | undefined;
  private lines = 0;

  /** Looks at whole lines; all of them pass. */
  passing(piece: Uint8Array): Uint8Array {
    const lines = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let at = lines.indexOf(LINE_FEED); at >= 0; at = lines.indexOf(LINE_FEED, at + 1)) this.lines++;
    if (lines.includes(USAGE)) this.read(lines.toString());
    this.isComplete ||= lines.includes(STOP);
    return piece;
  }

  /** What the message took. Of one that was cut off the output is a guess: about as many tokens as events. */
  get usage(): Usage | undefined {
    const usage = usageOfMessage(this.reported);
    if (!usage || this.isComplete) return usage;
    return { ...usage, output: Math.max(usage.output, this.events), estimated: true };
  }

  /** Events that have passed. */
  get events(): number {
    return Math.floor(this.lines / LINES_OF_EVENT);
  }

  private read(text: string): void {
    for (const line of text.split('\n')) {
      const event =
        line.startsWith('data:') && line.includes('"usage"') ? parsed(line.slice('data:'.length)) : undefined;
      const usage = event?.usage ?? event?.message?.usage;
      if (usage) this.reported = mergedUsage(usage, this.reported);
    }
  }
}

function parsed(text: string): MessagesEvent | undefined {
  try {
    return JSON.parse(text) as MessagesEvent;
  } catch {
    return undefined;
  }
}
