import type { Bus } from '../../../bus/bus.ts';
import type { SandboxEventRow } from '../tables.ts';
import type { SandboxEvents } from './events.ts';

/** Which events a reader follows. */
export interface Followed {
  readonly tenant: string;
  /** All sandboxes of the tenant when absent. */
  readonly sandboxId?: string;
  /** The event that was seen last. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** Whether nothing can happen any more. Asked when every event has been told. */
  readonly isOver?: () => boolean;
}

/**
 * Events in their order, from the rows; the bus only says when to look again. So none is left out and none comes
 * twice, however slowly somebody reads and wherever they go on from.
 */
export async function* followEvents(
  events: SandboxEvents,
  bus: Bus,
  { tenant, sandboxId, after, signal, isOver }: Followed,
): AsyncGenerator<SandboxEventRow> {
  let news = Promise.withResolvers<void>();
  const wake = () => news.resolve();
  const unsubscribe = bus.on('sandbox.event', (event) => {
    if (event.tenant === tenant && (sandboxId === undefined || event.sandboxId === sandboxId)) wake();
  });
  signal.addEventListener('abort', wake);
  try {
    for (let seen = after; !signal.aborted; ) {
      const over = isOver?.();
      const rows = events.after(tenant, sandboxId, seen);
      for (const row of rows) {
        seen = row.id;
        yield row;
      }
      if (rows.length > 0) continue;
      if (over) return;
      await news.promise;
      news = Promise.withResolvers();
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', wake);
  }
}
