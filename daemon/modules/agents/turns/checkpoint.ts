import type { NewEvent } from '../events/event.ts';
import type { SessionRow, TurnRow } from '../sessions/tables.ts';
import { TurnGone, type TurnParts, type TurnWork } from './parts.ts';

/** One commit of a turn. */
export interface Step {
  /** Adds events of the turn. */
  tell(...events: readonly NewEvent[]): void;
  /** Changes the session. */
  session(change: Partial<SessionRow>): void;
  /** The turn as it stands now. */
  readonly turn: TurnRow;
}

/** Writes the steps of turns: rows and events in one commit, and only while the turn is under way. */
export class Checkpoint {
  constructor(private readonly parts: TurnParts) {}

  /** Does `work` in one commit with the change of the turn that it answers. Errors: TurnGone; nothing is written then. */
  step(of: TurnWork, work: (step: Step) => Partial<TurnRow> | undefined): void {
    const { log, sessions, app } = this.parts;
    const { tenant, id: sessionId } = of.session;
    log.commit(() => {
      const turn = sessions.turn(tenant, sessionId, of.turn.number);
      if (turn?.status !== 'running' || of.left.aborted) throw new TurnGone();
      const updatedAt = app.clock.now();
      const change = work({
        turn,
        tell: (...events) => log.append(sessionId, turn.number, ...events),
        session: (more) => sessions.change(tenant, sessionId, { ...more, updatedAt }),
      });
      const activeMs = of.turn.activeMs + Math.round(of.elapsedMs());
      sessions.changeTurn(turn, ['running'], { activeMs, ...change });
    });
  }
}
