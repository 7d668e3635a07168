import type { AgentSessionTurn } from '../../../../src/api/agents/turns.ts';
import type { Value } from '../../../../src/api/schema.ts';
import type { TurnRange, TurnStore } from '../turns/store.ts';
import type { SessionStore } from './store.ts';
import type { SessionRow } from './tables.ts';
import { turnWire } from './wire.ts';

/** Bytes of text that one look at a session shows. */
const MOST_BYTES = 8 * 1024 * 1024;

interface Stores {
  readonly store: Pick<SessionStore, 'turnSizes' | 'turnsBetween'>;
  readonly calls: Pick<TurnStore, 'callSizes' | 'callsBetween'>;
}

/** The latest turns of a session, or the latest before one, in their order: as many as 8 MiB hold, and one in any case. */
export function shownTurns(
  { store, calls }: Stores,
  { tenant, id, turnCount }: Pick<SessionRow, 'tenant' | 'id' | 'turnCount'>,
  beforeTurn: number | undefined,
): Value<typeof AgentSessionTurn>[] {
  const before = beforeTurn || turnCount + 1;
  const range: TurnRange = { from: firstOf({ store, calls }, tenant, id, before), before };
  const ofTurn = Map.groupBy(calls.callsBetween(tenant, id, range), ({ turnNumber }) => turnNumber);
  return store.turnsBetween(tenant, id, range).map((turn) => turnWire(turn, ofTurn.get(turn.number) ?? []));
}

function firstOf({ store, calls }: Stores, tenant: string, id: string, before: number): number {
  const callSizes = calls.callSizes(tenant, id);
  let first = before;
  let left = MOST_BYTES;
  for (const { number, bytes } of store.turnSizes(tenant, id, before)) {
    left -= bytes + (callSizes.get(number) ?? 0);
    if (left < 0 && first < before) break;
    first = number;
  }
  return first;
}
