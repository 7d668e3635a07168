/**
 * A program for the scripted model, written in what a user says or in a system prompt. One thing a line:
 *
 * ```
 * #!script key=demo tools=sandbox_shell,ask_user
 * think I look first.
 * call sandbox_shell {"command":"echo hi; echo pid 7"}
 * expect /pid (?<pid>\d+)/
 * & call sandbox_list_files {"path":"."}
 * reject /no such/
 * if /denied/ say I may not.
 * unless /denied/ repeat 3 call sandbox_shell {"command":"echo {{i}} of {{pid}}"}
 * say All done.
 * #!end
 * ```
 *
 * `call` asks for a tool, `&` adds a call to the same answer, `raw` sends arguments that are no JSON, `say` answers with text
 * (and ends the turn, unless somebody says more), `think` is text before calls. `expect` and `reject` are about the result of
 * the call above; `system`, `steer` and `context` must be found, before the next answer, in the system prompt, in what was
 * said since the last answer, or anywhere but in scripts. `if` and `unless`, with a subject or about the results, choose; `repeat` writes a step
 * several times, with its number in `{{i}}`. Named groups are values for what comes later. `wait MS`, `pace MS`, `fail STATUS TIMES`,
 * `hang TIMES` and `cut TIMES` are the manners of the next answer; `ids same` and `ids none` give its calls ids that are no ids.
 */
export interface Script {
  /** Whose conversation it is: one of a session, never of two. */
  readonly key: string;
  /** Names of the tools that must be offered, sorted; undefined: any. */
  readonly tools: readonly string[] | undefined;
  /** Old messages may be missing: the conversation is read from where it can be recognized. */
  readonly isCompacted: boolean;
  readonly steps: readonly Step[];
}

/** What a pattern is looked for in. */
export type Subject = 'results' | 'system' | 'steer' | 'context';

/** Something that must be found, or must not. */
export interface Check {
  readonly subject: Subject;
  readonly pattern: RegExp;
  readonly isWanted: boolean;
}

/** A call as it stands in the script. */
export interface CallLine {
  readonly tool: string;
  /** With `{{names}}` in it. */
  readonly args: string;
  /** About its result. */
  readonly checks: readonly Check[];
}

/** How an answer is given. */
export interface Manners {
  readonly waitMs: number;
  /** Between the pieces of a stream. */
  readonly paceMs: number;
  readonly fails: { readonly status: number; readonly times: number };
  readonly hangs: number;
  readonly cuts: number;
  /** What its calls are called by; else each has an id of its own. */
  readonly ids?: 'same' | 'none';
}

/** One answer of the model. */
export interface Step {
  /** It is passed over unless all of these hold. */
  readonly guards: readonly Check[];
  /** What must hold before it. */
  readonly checks: readonly Check[];
  readonly text: string;
  readonly calls: readonly CallLine[];
  readonly manners: Manners;
}

type Draft<T> = { -readonly [K in keyof T]: T[K] };
type DraftCall = Omit<CallLine, 'checks'> & { checks: Check[] };

const MARKER = /^#!script\b(.*)$/m;
const PLAIN: Manners = { waitMs: 0, paceMs: 0, fails: { status: 500, times: 0 }, hangs: 0, cuts: 0 };
const MOST_STEPS = 5000;

/** Whether a text has a script in it. */
export function hasScript(text: string): boolean {
  return MARKER.test(text);
}

/** Reads the script in a text. Errors: a line that means nothing. */
export function parseScript(text: string): Script {
  const marker = MARKER.exec(text);
  if (!marker) throw new Error('there is no script');
  const [body = ''] = text.slice(marker.index + marker[0].length).split(/^#!end$/m);
  const options = new Map((marker[1] ?? '').trim().split(/\s+/).map(option));
  const reader = new Reader();
  for (const [i, line] of body.split('\n').entries()) {
    try {
      reader.read(line.trim());
    } catch (error) {
      throw new Error(`line ${i + 1} of the script, ${JSON.stringify(line)}: ${(error as Error).message}`);
    }
  }
  return {
    key: options.get('key') ?? `k${Bun.hash(text).toString(36)}`,
    tools: options.get('tools')?.split(',').filter(Boolean).toSorted(),
    isCompacted: options.has('compacts'),
    steps: reader.steps,
  };
}

function option(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Reads line after line. */
class Reader {
  readonly steps: Step[] = [];
  private manners = PLAIN;
  private checks: Check[] = [];
  private text = '';
  /** The call to which `&`, `expect` and `reject` belong. */
  private last: { readonly calls: DraftCall[]; readonly call: DraftCall } | undefined;

  read(line: string): void {
    if (line === '' || line.startsWith('# ')) return;
    const [, word = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(line) ?? [];
    const manner = mannerOf(word, rest);
    if (manner) this.manners = { ...this.manners, ...manner };
    else if (word === 'expect' || word === 'reject') this.expect(rest, word === 'expect');
    else if (word === '&') this.join(rest);
    else if (word === 'think') this.text = rest;
    else if (word === 'system' || word === 'steer' || word === 'context')
      this.checks.push({ subject: word, pattern: pattern(rest), isWanted: true });
    else this.step(line, []);
  }

  private expect(rest: string, isWanted: boolean): void {
    if (!this.last) throw new Error('there is no call above it');
    this.last.call.checks.push({ subject: 'results', pattern: pattern(rest), isWanted });
  }

  private join(rest: string): void {
    if (!this.last) throw new Error('there is no call above it');
    const call = callOf(rest);
    this.last.calls.push(call);
    this.last = { calls: this.last.calls, call };
  }

  private step(line: string, guards: readonly Check[]): void {
    const guarded = /^(if|unless)\s+(?:(system|steer|context)\s+)?(\/.*?[^\\]\/)\s+(.*)$/s.exec(line);
    const repeated = /^repeat\s+(\d+)\s+(.*)$/s.exec(line);
    if (guarded) {
      const [, word, subject = 'results', source = '', rest = ''] = guarded;
      const guard = { subject: subject as Subject, pattern: pattern(source), isWanted: word === 'if' };
      this.step(rest, [...guards, guard]);
    } else if (repeated) {
      const times = Number(repeated[1]);
      if (this.steps.length + times > MOST_STEPS) throw new Error(`more than ${MOST_STEPS} steps`);
      for (let i = 1; i <= times; i++) this.add((repeated[2] ?? '').replaceAll('{{i}}', String(i)), guards);
    } else this.add(line, guards);
  }

  private add(line: string, guards: readonly Check[]): void {
    const said = /^say\s+(.*)$/s.exec(line)?.[1];
    const call = said === undefined ? callOf(line) : undefined;
    const calls = call ? [call] : [];
    const text = said ?? this.text;
    const step: Draft<Step> = { guards, checks: this.checks, text, calls, manners: this.manners };
    this.steps.push(step);
    this.last = call && { calls, call };
    [this.checks, this.text, this.manners] = [[], '', PLAIN];
  }
}

function callOf(line: string): DraftCall {
  const [, word, tool = '', args = '{}'] = /^(call|raw)\s+(\S+)(?:\s+(.*))?$/s.exec(line) ?? [];
  if (!word) throw new Error('it means nothing');
  if (word === 'call' && !args.includes('{{')) JSON.parse(args);
  return { tool, args, checks: [] };
}

function mannerOf(word: string, rest: string): Partial<Manners> | undefined {
  if (word === 'ids' && (rest === 'same' || rest === 'none')) return { ids: rest };
  const [first = Number.NaN, second = 1] = rest.split(/\s+/).map(Number);
  if (!Number.isFinite(first)) return undefined;
  if (word === 'wait') return { waitMs: first };
  if (word === 'pace') return { paceMs: first };
  if (word === 'fail') return { fails: { status: first, times: second } };
  if (word === 'hang') return { hangs: first };
  if (word === 'cut') return { cuts: first };
  return undefined;
}

function pattern(text: string): RegExp {
  const source = /^\/(.*)\/(i?)$/s.exec(text.trim());
  if (!source?.[1]) throw new Error('a /pattern/ is missing');
  return new RegExp(source[1], `s${source[2]}`);
}
