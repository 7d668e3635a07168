import { partsOf, Violation, type WireMessage } from './messages.ts';
import { answerTo, type NextAnswer } from './player.ts';

/** What the model reads of a request. */
export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly tools?: ReadonlyArray<{ readonly type: string; readonly function: { readonly name: string } }>;
  readonly tool_choice?: unknown;
  readonly response_format?: { readonly type: string };
}

/** One conversation, by the key of its first script. */
export interface SeenConversation {
  readonly requests: number;
  /** Answers that were begun, by place. More than one: the loop has asked again, after a failure or a crash. */
  readonly answers: Readonly<Record<string, number>>;
  /** How many requests were left by the caller before their end. */
  readonly left: number;
  readonly last: ModelRequest;
}

/** An effect that somebody has had. */
export interface Effect {
  readonly id: string;
  readonly idempotencyKey: string | undefined;
  readonly atMs: number;
}

/** Something that no loop that works would have sent. */
export interface SeenViolation {
  readonly key: string;
  readonly reason: string;
  readonly messages: readonly WireMessage[];
}

interface Entry {
  requests: number;
  left: number;
  answers: Record<string, number>;
  last: ModelRequest;
  /** Its messages as text, without the system prompt. */
  said: readonly string[];
}

/** Words of a model that answers while it does not misbehave. */
export interface Decision extends NextAnswer {
  /** Sends this status in place of the answer. */
  readonly failure: number | undefined;
  readonly mood: 'answers' | 'hangs' | 'is cut';
}

/** What the model remembers of all conversations. It decides from what it is sent; the books are for comparing. */
export class Books {
  requests = 0;
  /** Requests that were larger than the context of the model. */
  refused = 0;
  readonly violations: SeenViolation[] = [];
  readonly effects: Effect[] = [];
  private readonly entries = new Map<string, Entry>();
  private readonly given = new Map<string, number>();
  private readonly misdeeds = new Map<string, number>();

  /** What comes next in a conversation. Errors: Violation, which is counted. */
  decide(request: ModelRequest): Decision {
    this.requests++;
    let key = '';
    try {
      const next = answerTo(
        request.messages,
        (place) => this.given.get(place) ?? 0,
        request.tool_choice !== 'none',
      );
      key = next.root;
      this.compare(request, next);
      return { ...next, ...this.manner(next) };
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.violations.push({ key, reason: error.message, messages: request.messages });
      throw error;
    }
  }

  leave(key: string): void {
    const entry = this.entries.get(key);
    if (entry) entry.left++;
  }

  conversation(key: string): SeenConversation | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    const { requests, answers, left, last } = entry;
    return { requests, answers, left, last };
  }

  keys(): readonly string[] {
    return [...this.entries.keys()];
  }

  /** A conversation only grows, and the tools are those that the script expects. */
  private compare(request: ModelRequest, { script, place, manners, root }: NextAnswer): void {
    const said = partsOf(request.messages).rest.map((message) => JSON.stringify(message));
    const entry = this.entries.get(root) ?? { requests: 0, left: 0, answers: {}, last: request, said: [] };
    const lost = script.isCompacted ? -1 : entry.said.findIndex((message, i) => said[i] !== message);
    if (lost >= 0) throw new Violation(`the conversation has lost or changed ${entry.said[lost]}`);
    const offered = (request.tools ?? []).map((tool) => tool.function.name).toSorted();
    if (script.tools && !Bun.deepEquals(offered, script.tools))
      throw new Violation(`the tools are ${offered.join()}, not ${script.tools.join()}`);
    entry.requests++;
    if (!this.isToFail(place, manners.fails.times)) {
      this.given.set(place, (this.given.get(place) ?? 0) + 1);
      entry.answers[place] = (entry.answers[place] ?? 0) + 1;
    }
    this.entries.set(root, { ...entry, last: request, said });
  }

  private isToFail(place: string, times: number): boolean {
    return (this.misdeeds.get(`${place} fails`) ?? 0) < times;
  }

  private manner({ place, manners }: NextAnswer): Pick<Decision, 'failure' | 'mood'> {
    const isDue = (what: string, times: number) => {
      const done = this.misdeeds.get(`${place} ${what}`) ?? 0;
      if (done < times) this.misdeeds.set(`${place} ${what}`, done + 1);
      return done < times;
    };
    const failure = isDue('fails', manners.fails.times) ? manners.fails.status : undefined;
    if (failure) return { failure, mood: 'answers' };
    if (isDue('hangs', manners.hangs)) return { failure, mood: 'hangs' };
    return { failure, mood: isDue('cuts', manners.cuts) ? 'is cut' : 'answers' };
  }
}
