import { partsOf, textOf, Violation, type WireCall, type WireMessage } from './messages.ts';
import { type Check, hasScript, type Manners, parseScript, type Script, type Step } from './script.ts';

/** What the model says next. */
export interface NextAnswer {
  readonly text: string;
  readonly calls: readonly WireCall[];
  readonly manners: Manners;
  /** Where in which script: the same whenever the same conversation comes again. */
  readonly place: string;
  readonly script: Script;
  /** The key of the first script of the conversation. */
  readonly root: string;
}

/** What the model says in place of calls when it is told not to call. */
export const NO_MORE_CALLS = 'I may not call any more.';

/** What stands in the place of ids of a model that has none. */
const BAD_IDS = { same: 'call_0', none: '' } as const;

/**
 * Plays a conversation again and tells what comes next. Every answer in it must be the script's own, byte by byte, and every
 * call must have one result, in order. `attempt` counts answers that were given at a place: ids of calls that were asked for
 * twice differ. Without `mayCall` it answers in words. Errors: Violation.
 */
export function answerTo(
  messages: readonly WireMessage[],
  attempt: (place: string) => number,
  mayCall = true,
): NextAnswer {
  const { system, rest } = partsOf(messages);
  const player = new Player(system, rest);
  if (hasScript(system)) player.begin(system);
  for (let i = 0; i < rest.length; ) i += player.take(rest.slice(i));
  return player.next(attempt, mayCall);
}

/** A place in a script, with what is known there. */
class Player {
  private script: Script | undefined;
  private root: string | undefined;
  private turn = -1;
  private place = 0;
  /** Whether the last answer was broken off, so that somebody must say something. */
  private isCutOff = false;
  private isAnswered = false;
  private isFound = false;
  private asked: Step | undefined;
  private results: string[] = [];
  private steers: string[] = [];
  private values: Record<string, string> = {};

  constructor(
    private readonly system: string,
    private readonly rest: readonly WireMessage[],
  ) {}

  begin(text: string): void {
    try {
      this.script = parseScript(text);
    } catch (error) {
      throw new Violation((error as Error).message);
    }
    this.root ??= this.script.key;
    this.turn++;
    [this.place, this.asked, this.isCutOff, this.isAnswered] = [0, undefined, false, false];
    [this.results, this.steers, this.values] = [[], [], {}];
  }

  /** Takes what stands first. Answers how many messages that was. */
  take(messages: readonly WireMessage[]): number {
    const [first] = messages;
    if (first?.role === 'assistant') return this.answered(first, messages.slice(1));
    if (first?.role === 'tool') throw new Violation(`a result without a call: ${first.tool_call_id}`);
    if (first?.role !== 'user' && first?.role !== 'system')
      throw new Violation(`the role ${first?.role} is unknown`);
    const text = textOf(first);
    if (first.role === 'user' && hasScript(text)) this.begin(text);
    else this.steers.push(text);
    [this.isAnswered, this.isCutOff] = [false, false];
    return 1;
  }

  /** What comes after all that. */
  next(attempt: (place: string) => number, mayCall: boolean): NextAnswer {
    if (!this.script) throw new Violation('there is no script in the conversation');
    if (this.isAnswered || this.isCutOff) throw new Violation('the last word is the model’s own');
    const { step, index } = this.advance();
    const place = `${this.script.key}_${this.turn}_${index}`;
    const { script, root = '' } = this;
    const common = { manners: step.manners, place, script, root };
    if (!mayCall && step.calls.length > 0) return { text: NO_MORE_CALLS, calls: [], ...common };
    const calls = step.calls.map(({ tool, args }, i) => ({
      id: step.manners.ids ? BAD_IDS[step.manners.ids] : `c_${place}_${i}_${attempt(place)}`,
      type: 'function',
      function: { name: tool, arguments: this.filled(args, true) },
    }));
    return { text: this.filled(step.text, false), calls, ...common };
  }

  private answered(message: WireMessage, after: readonly WireMessage[]): number {
    if (!this.script) throw new Violation('an answer comes before there is a script');
    if (this.isCutOff || this.isAnswered) throw new Violation('two answers follow each other');
    this.findPlace(message);
    const { step, index } = this.advance();
    const calls = message.tool_calls ?? [];
    const [text, wanted] = [textOf(message), this.filled(step.text, false)];
    this.isAnswered = calls.length === 0;
    if (text === NO_MORE_CALLS && this.isAnswered && step.calls.length > 0) return 1;
    this.isCutOff = calls.length === 0 && text !== wanted && wanted.startsWith(text);
    if (this.isCutOff) return 1;
    if (text !== wanted)
      throw new Violation(`the answer ${JSON.stringify(text)} was ${JSON.stringify(wanted)}`);
    if (calls.length !== step.calls.length)
      throw new Violation(`an answer has ${calls.length} calls, not ${step.calls.length}`);
    this.compare(calls, step, `${this.script.key}_${this.turn}_${index}`);
    this.results = calls.map(({ id }, i) => resultOf(id, after[i]));
    this.place = index + 1;
    this.asked = step;
    this.steers = [];
    return 1 + calls.length;
  }

  /** In a conversation without its beginning, the first answer says where it stands. */
  private findPlace(message: WireMessage): void {
    if (!this.script?.isCompacted || this.isFound) return;
    this.isFound = true;
    const id = /_(\d+)_\d+_\d+$/.exec(message.tool_calls?.[0]?.id ?? '')?.[1];
    const text = textOf(message);
    const at = id ? Number(id) : this.script.steps.findIndex((step) => step.text === text);
    if (at < 0) throw new Violation(`nobody has ever said ${JSON.stringify(text)}`);
    this.place = at;
  }

  private compare(calls: readonly WireCall[], step: Step, place: string): void {
    const attempts = new Set<string>();
    for (const [i, { id, type, function: made }] of calls.entries()) {
      const { tool, args } = step.calls[i] ?? { tool: '', args: '' };
      const wanted = this.filled(args, true);
      if (!step.manners.ids && !id.startsWith(`c_${place}_${i}_`))
        throw new Violation(`the call ${id} is not of ${place}`);
      if (type !== 'function' || made.name !== tool)
        throw new Violation(`the call ${id} was of ${tool}, not of ${made.name}`);
      if (made.arguments !== wanted)
        throw new Violation(`the arguments of ${id} were ${wanted}, not ${made.arguments}`);
      attempts.add(id.slice(id.lastIndexOf('_')));
    }
    if (step.manners.ids) refuseSameIds(calls);
    else if (attempts.size > 1) throw new Violation(`calls of two answers are mixed at ${place}`);
  }

  /** The next step whose guards hold, after what the last one was to bring. */
  private advance(): { readonly step: Step; readonly index: number } {
    for (const [i, { tool, checks }] of this.asked?.calls.entries() ?? []) {
      const result = this.results[i] ?? '';
      for (const check of checks) this.check(check, result, `the result of ${tool}`);
    }
    const steps = this.script?.steps ?? [];
    let index = this.place;
    while (steps[index] && !steps[index]?.guards.every((guard) => this.holds(guard))) index++;
    const step = steps[index];
    if (!step) throw new Violation(`the script ${this.script?.key} is over`);
    for (const check of step.checks) this.check(check, this.about(check), `the ${check.subject}`);
    return { step, index };
  }

  private holds(guard: Check): boolean {
    const found = guard.pattern.exec(this.about(guard));
    if (found && guard.isWanted) Object.assign(this.values, found.groups);
    return (found !== null) === guard.isWanted;
  }

  private check({ pattern, isWanted }: Check, text: string, what: string): void {
    const found = pattern.exec(text);
    if ((found !== null) !== isWanted)
      throw new Violation(
        `${what} ${isWanted ? 'does not match' : 'matches'} ${pattern}: ${text.slice(0, 2000)}`,
      );
    if (found) Object.assign(this.values, found.groups);
  }

  private about({ subject }: Check): string {
    if (subject === 'results') return this.results.join('\n');
    if (subject === 'system') return this.system;
    if (subject === 'steer') return this.steers.join('\n');
    return this.rest
      .map(textOf)
      .filter((text) => !hasScript(text))
      .join('\n');
  }

  private filled(text: string, isJson: boolean): string {
    return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => {
      const value = this.values[name];
      if (value === undefined) return whole;
      return isJson ? JSON.stringify(value).slice(1, -1) : value;
    });
  }
}

function resultOf(id: string, message: WireMessage | undefined): string {
  if (message?.role !== 'tool')
    throw new Violation(`the call ${id} has no result, but a message of ${message?.role}`);
  if (message.tool_call_id !== id)
    throw new Violation(`the result of ${id} is missing: there is one of ${message.tool_call_id}`);
  return textOf(message);
}

/** A loop gives ids to calls that have none. */
function refuseSameIds(calls: readonly WireCall[]): void {
  const ids = new Set(calls.map(({ id }) => id));
  if (ids.size < calls.length || ids.has('')) throw new Violation('calls cannot be told apart by their ids');
}
