import type { Kind } from './kinds.ts';

/** What a caller heard of one request. */
export interface Heard {
  readonly requestId: string;
  /** 0 when the caller left before any. */
  readonly status: number;
  readonly text: string;
  /** Calls of tools, in order: `[name, arguments]`. */
  readonly calls: ReadonlyArray<readonly [string, string]>;
  /** How many times the answer said that it was over. */
  readonly ends: number;
  /** The code of the error that it was, or that ended it. */
  readonly error: string | undefined;
}

/** What is said in a request: its own number, so that an answer fits no other. */
export function wordsOf(id: number): string {
  return `ask-${id} one two three four five six`;
}

/** What is wrong with what was heard; undefined when it is as it has to be. */
export function complaintOf(kind: Kind, id: number, heard: Heard): string | undefined {
  const right = wordsOf(id).split(' ').toReversed().join(' ');
  const isBeginning = right.startsWith(heard.text.trim());
  const shown = `${kind.name} #${id} ${heard.requestId}: ${JSON.stringify(heard)}`;
  switch (kind.end.is) {
    case 'answer':
      return isRight(kind, right, heard) ? undefined : shown;
    case 'error':
      return kind.end.status.includes(heard.status) && heard.error && heard.text === '' ? undefined : shown;
    case 'cut':
      return isBeginning && heard.error && heard.ends === 0 ? undefined : shown;
    case 'left':
      return isBeginning && heard.ends === 0 && heard.error === undefined ? undefined : shown;
  }
}

function isRight(
  { tools, preamble = '' }: Kind,
  right: string,
  { status, text, calls, ends, error }: Heard,
): boolean {
  if (status !== 200 || error !== undefined || ends !== 1) return false;
  if (!tools) return text.trim() === right && calls.length === 0;
  const wanted = ['read', 'write'].map((name) => `${name} ${JSON.stringify({ text: right })}`);
  const got = calls.map(([name, args]) => `${name} ${JSON.stringify(JSON.parse(args))}`);
  return text === preamble && Bun.deepEquals(got, wanted);
}

interface Call {
  readonly index?: number;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

interface Said {
  readonly content?: string | null;
  readonly tool_calls?: readonly Call[];
}

interface Body {
  readonly choices?: ReadonlyArray<{
    readonly message?: Said;
    readonly delta?: Said;
    readonly finish_reason?: string | null;
  }>;
  readonly error?: { readonly code?: string | null; readonly type?: string } | null;
}

/** Puts an answer together as it comes, whole or in events. */
export class AnswerText {
  text = '';
  ends = 0;
  error: string | undefined;
  private readonly made = new Map<number, [string, string]>();
  private rest = '';

  get calls(): ReadonlyArray<readonly [string, string]> {
    return [...this.made.values()];
  }

  /** Takes a piece of an event stream. */
  push(piece: string): void {
    const lines = (this.rest + piece).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines)
      if (line.startsWith('data: {')) this.take(JSON.parse(line.slice('data: '.length)) as Body);
  }

  /** Takes an answer or an event. */
  take({ choices = [], error }: Body): void {
    if (error) this.error = error.code ?? error.type ?? 'without a code';
    for (const { message, delta = message, finish_reason } of choices) {
      this.text += delta?.content ?? '';
      for (const [place, call] of (delta?.tool_calls ?? []).entries())
        this.takeCall(call.index ?? place, call);
      if (finish_reason) this.ends++;
    }
  }

  private takeCall(index: number, { function: made }: Call): void {
    const [name, args] = this.made.get(index) ?? ['', ''];
    this.made.set(index, [name + (made?.name ?? ''), args + (made?.arguments ?? '')]);
  }
}
