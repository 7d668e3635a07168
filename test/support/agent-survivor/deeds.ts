import { script } from '../agent-client.ts';

/** One thing that a turn does, with the ids by which its effects are found outside. */
export interface Deed {
  readonly kind: string;
  readonly lines: readonly string[];
  /** Had at the effect server. */
  readonly effects?: readonly string[];
  /** Written by commands. */
  readonly commands?: readonly string[];
  /** Kept as memories. */
  readonly memories?: readonly string[];
}

/** The next whole number below `most`, from a generator of a test. */
export type Dice = (most: number) => number;

/** What the model accepts as the result of a call that was cut off. */
const OR_UNKNOWN = '|outcome of this call is unknown';

/** Numbers that are the same for the same seed (mulberry32). */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  return (most) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
}

const effect = (id: string, ms: number, tool = 'effect') => [
  `call ${tool} ${JSON.stringify({ id, ms })}`,
  `expect /"count":1\\b${OR_UNKNOWN}/`,
];

const KINDS: Readonly<Record<string, (id: string, ms: number) => Omit<Deed, 'kind'>>> = {
  effect: (id, ms) => ({ lines: effect(id, ms), effects: [id] }),
  guarded: (id, ms) => ({ lines: effect(id, ms, 'guarded'), effects: [id] }),
  asks: (id) => ({
    lines: [`call ask_user ${JSON.stringify({ question: id })}`, `expect /answer to ${id}\\b/`],
  }),
  talks: (id) => ({
    lines: ['pace 8', `think ${`${id} `.repeat(12).trim()}`, ...effect(id, 0)],
    effects: [id],
  }),
  both(id, ms) {
    const [one, expectation = ''] = effect(`${id}a`, ms);
    const [two] = effect(`${id}b`, ms);
    return { lines: [one ?? '', expectation, `& ${two}`, expectation], effects: [`${id}a`, `${id}b`] };
  },
  spawns(id, ms) {
    const task = script(`child-${id}`, ...effect(id, ms), `say child of ${id}`);
    return {
      lines: [
        `call spawn_agent ${JSON.stringify({ agent: 'child', task })}`,
        `expect /child of ${id}${OR_UNKNOWN}/`,
      ],
      effects: [id],
    };
  },
  remembers: (id) => ({
    lines: [
      `call memory_store ${JSON.stringify({ content: `This is about ${id}.`, factKey: `about.${id}` })}`,
      `expect /${id}${OR_UNKNOWN}/`,
    ],
    memories: [id],
  }),
};

const shell = (id: string, ms: number): Omit<Deed, 'kind'> => {
  const command = `sleep 0.${ms}; echo ${id} >> effects.log; echo did ${id}`;
  return {
    lines: [`call sandbox_shell ${JSON.stringify({ command })}`, `expect /did ${id}${OR_UNKNOWN}/`],
    commands: [id],
  };
};

/** A few deeds under a key. Without `withShell` there are no commands among them. */
export function deedsOf(key: string, dice: Dice, withShell: boolean): Deed[] {
  // Commands are the most delicate of all: they are there more often.
  const kinds = [...Object.entries(KINDS), ...(withShell ? Array(3).fill(['shell', shell] as const) : [])];
  return Array.from({ length: 2 + dice(3) }, (_, i) => {
    const [kind, make] = kinds[dice(kinds.length)];
    return { kind, ...make(`${key}-${i}`, dice(150)) };
  });
}
