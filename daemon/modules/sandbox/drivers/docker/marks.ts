/**
 * How the processes of a command are known. Each command starts with its own value of RLIMIT_LOCKS, a limit
 * that Linux keeps and passes on but has not enforced since 2.4.25. It outlives fork, exec, setsid, a second
 * fork and a cleared environment, and only a process that lowers its own limit on purpose can shed it.
 * Layout (below 2^53): two bits of kind, 18 bits of the driver's generation, 32 bits of the command's id.
 */
export interface Marks {
  /** Of a command that belongs to its caller, and so to this run of the daemon. */
  owned(commandId: string): number;
  /** All that this run of the daemon owns. */
  readonly ours: MarkRange;
}

/** Marks from `low` up to, and without, `high`. */
export interface MarkRange {
  readonly low: number;
  readonly high: number;
}

const OWNED = 2 ** 50;
const DETACHED = 2 ** 51;
const GENERATIONS = 2 ** 18;
const IDS = 2 ** 32;

/** Marks of a new generation. */
export function newMarks(generation: number = randomBelow(GENERATIONS)): Marks {
  const low = OWNED + (generation % GENERATIONS) * IDS;
  return { owned: (commandId) => low + hash(commandId), ours: { low, high: low + IDS } };
}

/** Of a command that belongs to its box: the same in every run of the daemon. */
export function detachedMark(commandId: string): number {
  return DETACHED + hash(commandId);
}

/** One mark as a range. */
export function onlyMark(mark: number): MarkRange {
  return { low: mark, high: mark + 1 };
}

/** All commands that belong to callers, whichever run of the daemon they were in. */
export const ALL_OWNED: MarkRange = { low: OWNED, high: OWNED + GENERATIONS * IDS };

function hash(commandId: string): number {
  return Number(BigInt.asUintN(32, BigInt(Bun.hash(commandId))));
}

function randomBelow(limit: number): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % limit;
}
