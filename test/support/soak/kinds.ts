/** One kind of request of the soak, and what has to come of it. */
export interface Kind {
  readonly name: string;
  /** How often it comes, beside the others. */
  readonly share: number;
  readonly model: string;
  readonly stream?: true;
  readonly tools?: true;
  /** What the provider says before it calls tools. */
  readonly preamble?: string;
  /** The caller leaves after so many milliseconds, or when it has heard the first content. */
  readonly leaves?: number | 'at-content';
  readonly end: End;
}

/** How a request has to end. */
export type End =
  /** With exactly what derives from the request. */
  | { readonly is: 'answer' }
  /** With this status and an error that has a code. */
  | { readonly is: 'error'; readonly status: readonly number[] }
  /** With a beginning of the answer and an error after it. A connection that breaks may take all of it along. */
  | { readonly is: 'cut' }
  /** Left by its caller, with a beginning of the answer at most. */
  | { readonly is: 'left' };

const ANSWER = { is: 'answer' } as const;
const error = (...status: number[]) => ({ is: 'error', status }) as const;

/** Routes that every tenant of the soak has. */
export const ROUTES = {
  'after-broken': { targets: ['flaky/broken', 'good/gpt-test'] },
  'after-limited': { targets: ['flaky/rate-limited', 'good/gpt-test'] },
  'after-reset': { targets: ['reset/gpt-test', 'claude/claude-opus-4-8'] },
  'after-overload': { targets: ['claude/overloaded-at-once', 'flash/gemini-2.5-flash'] },
  spread: { strategy: 'round_robin', targets: ['good/gpt-test', 'other/gpt-test'] },
  race: { strategy: 'parallel', targets: ['quiet/hangs', 'good/gpt-test'] },
} as const;

/** Every kind of request. `good`, `other`, `claude` and `flash` answer; `flaky` and `reset` fail; `quiet` only hangs. */
export const KINDS: readonly Kind[] = [
  { name: 'whole', share: 20, model: 'good/gpt-test', end: ANSWER },
  { name: 'streamed', share: 20, model: 'good/gpt-test', stream: true, end: ANSWER },
  { name: 'tools', share: 4, model: 'good/gpt-test', tools: true, end: ANSWER },
  { name: 'streamed tools', share: 4, model: 'other/gpt-test', stream: true, tools: true, end: ANSWER },
  { name: 'messages dialect', share: 5, model: 'claude/claude-opus-4-8', end: ANSWER },
  {
    name: 'messages dialect, streamed',
    share: 5,
    model: 'claude/claude-opus-4-8',
    stream: true,
    end: ANSWER,
  },
  {
    name: 'messages dialect, streamed tools',
    share: 2,
    model: 'claude/claude-opus-4-8',
    stream: true,
    tools: true,
    preamble: 'Let me see.',
    end: ANSWER,
  },
  { name: 'gemini', share: 5, model: 'flash/gemini-2.5-flash', end: ANSWER },
  { name: 'gemini, streamed', share: 5, model: 'flash/gemini-2.5-flash', stream: true, end: ANSWER },
  { name: 'gemini, tools', share: 2, model: 'flash/gemini-2.5-flash', tools: true, end: ANSWER },
  { name: 'fallback after 500', share: 3, model: 'after-broken', end: ANSWER },
  { name: 'fallback after 500, streamed', share: 3, model: 'after-broken', stream: true, end: ANSWER },
  { name: 'fallback after 429', share: 3, model: 'after-limited', stream: true, end: ANSWER },
  { name: 'fallback after a reset', share: 3, model: 'after-reset', stream: true, end: ANSWER },
  { name: 'fallback after an error event', share: 2, model: 'after-overload', stream: true, end: ANSWER },
  { name: 'round robin', share: 3, model: 'spread', end: ANSWER },
  { name: 'race with one that hangs', share: 2, model: 'race', end: ANSWER },
  { name: 'trickle', share: 1, model: 'good/trickles', stream: true, end: ANSWER },
  { name: '429', share: 2, model: 'flaky/rate-limited', end: error(429) },
  { name: '500', share: 2, model: 'flaky/broken', stream: true, end: error(502) },
  { name: 'reset', share: 2, model: 'reset/gpt-test', end: error(502, 503) },
  { name: 'whole answer that breaks', share: 1, model: 'flaky/fails-midstream', end: error(502, 503) },
  { name: 'stream that breaks', share: 2, model: 'flaky/fails-midstream', stream: true, end: { is: 'cut' } },
  { name: 'no such model', share: 1, model: 'nobody/has-this', end: error(404) },
  { name: 'hang that is left', share: 2, model: 'quiet/hangs', leaves: 500, end: { is: 'left' } },
  {
    name: 'stream that is left',
    share: 2,
    model: 'quiet/hangs-midstream',
    stream: true,
    leaves: 'at-content',
    end: { is: 'left' },
  },
];

/** The kinds in an order in which each has its share, the same in every run. */
export function* kindsInTurn(): Generator<Kind, never> {
  const credit = KINDS.map(() => 0);
  const total = KINDS.reduce((sum, { share }) => sum + share, 0);
  for (;;) {
    for (const [i, { share }] of KINDS.entries()) credit[i] = (credit[i] ?? 0) + share;
    const place = credit.indexOf(Math.max(...credit));
    credit[place] = (credit[place] ?? 0) - total;
    const kind = KINDS[place];
    if (kind) yield kind;
  }
}
