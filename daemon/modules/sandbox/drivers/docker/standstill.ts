import type { Container } from 'dockerode';
import { AppError } from '../../../../../src/errors/app-error.ts';

/** The longest time that a box may stand still for a snapshot before commands are refused. */
const LONGEST_MS = 120_000;
const PAUSE_MS = 50;

/**
 * Does something in a box that may stand still while a snapshot of it is made, by this daemon or by one that is
 * gone: the engine refuses commands meanwhile, so they wait here. Errors: those of `work`.
 */
export async function onceItMoves<T>(container: Container, work: () => Promise<T>): Promise<T> {
  for (let [end, stood] = [Date.now() + LONGEST_MS, true]; ; await Bun.sleep(PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      const isRefused = error instanceof AppError && error.code === 'failed_precondition';
      if (!isRefused || !stood || Date.now() > end) throw error;
      // It may have gone on between the two questions: that is worth one more try.
      const state = (await container.inspect().catch(() => undefined))?.State;
      if (!state?.Running) throw error;
      stood = state.Paused;
    }
  }
}
