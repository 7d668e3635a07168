import type { Log } from '../../log/log.ts';
import { turn } from './recall/turn.ts';
import type { SweepStore } from './sweep-store.ts';

const CHUNKS_A_STEP = 16;

/** Who is told of what is gone. */
export interface Gone {
  document(collection: number, document: number): void;
  collection(collection: number): void;
}

/** Removes dead documents and collections step by step, so that nothing large is removed while others wait. */
export class Sweep {
  private running: Promise<void> | undefined;
  private isWanted = false;
  private isStopped = false;

  constructor(
    private readonly store: SweepStore,
    private readonly gone: Gone,
    private readonly log: Log,
  ) {}

  /** Takes up what a former process has left. */
  start(): void {
    this.store.discardStaged();
    this.soon();
  }

  /** Says that there is something to remove. */
  soon(): void {
    this.isWanted = true;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  /** Resolves when nothing is left to remove. */
  async settled(): Promise<void> {
    await this.running;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  private async run(): Promise<void> {
    await turn();
    while (this.isWanted && !this.isStopped) {
      this.isWanted = false;
      try {
        for (const collection of this.store.deadCollections()) await this.removeCollection(collection);
        await this.removeDocuments();
      } catch (error) {
        this.log.error('memory is not swept', { error });
      }
    }
  }

  private async removeCollection(collection: number): Promise<void> {
    this.gone.collection(collection);
    this.store.dropWords(collection);
    for (
      let seq = this.store.documentOf(collection);
      seq !== undefined;
      seq = this.store.documentOf(collection)
    )
      if (!(await this.remove(collection, seq, true))) return;
    this.store.removeCollection(collection);
    this.isWanted = true;
  }

  private async removeDocuments(): Promise<void> {
    for (let dead = this.store.deadDocument(); dead; dead = this.store.deadDocument())
      if (!(await this.remove(dead.collection, dead.seq, false))) return;
  }

  /** False when it was stopped in the middle. */
  private async remove(collection: number, seq: number, whole: boolean): Promise<boolean> {
    while (!this.store.shrink({ seq, collection, whole }, CHUNKS_A_STEP)) {
      if (this.isStopped) return false;
      await turn();
    }
    this.gone.document(collection, seq);
    await turn();
    return !this.isStopped;
  }
}
