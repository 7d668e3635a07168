import { fail } from '../../../../src/errors/app-error.ts';

/** Most connections to one sandbox at once. */
const MAX_OPEN = 512;

interface Visit {
  readonly port: number;
  readonly end: () => void;
}

/** The connections to ports that are open now, so that they can be ended with what allowed them. */
export class Visits {
  private readonly open = new Map<string, Set<Visit>>();

  /** Notes a connection. `end` is called when it may not go on; call the answer when it is over. Errors: resource_exhausted. */
  enter(sandboxId: string, port: number, end: () => void): () => void {
    const visits = this.open.get(sandboxId) ?? new Set();
    if (visits.size >= MAX_OPEN)
      throw fail('resource_exhausted', {
        message: `There are ${MAX_OPEN} connections to this sandbox already.`,
      });
    const visit = { port, end };
    visits.add(visit);
    this.open.set(sandboxId, visits);
    return () => {
      visits.delete(visit);
      if (visits.size === 0 && this.open.get(sandboxId) === visits) this.open.delete(sandboxId);
    };
  }

  /** Whether somebody is connected to a sandbox. */
  isBusy(sandboxId: string): boolean {
    return this.open.has(sandboxId);
  }

  /** Ends the connections to a sandbox, or to one port of it. */
  end(sandboxId: string, port?: number): void {
    for (const visit of [...(this.open.get(sandboxId) ?? [])])
      if (port === undefined || visit.port === port) visit.end();
  }

  endAll(): void {
    for (const id of [...this.open.keys()]) this.end(id);
  }
}
