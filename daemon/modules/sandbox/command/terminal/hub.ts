import type { Log } from '../../../../log/log.ts';
import type { Terminal, TerminalSize } from '../../drivers/driver.ts';
import type { ExecutionRow } from '../../tables.ts';
import type { Ended, Running } from '../service.ts';
import { OutputRing } from './ring.ts';

/** What is kept for those who come later. */
const KEPT_BYTES = 1024 * 1024;
/** A terminal whose keyboard is held waits for that connection when it is so far behind. */
const MAX_LAG = 512 * 1024;

/** A connection as its terminal sees it. */
export interface Watcher {
  readonly mode: 'control' | 'view';
  /** Offset behind the last byte that it was sent. */
  readonly position: number;
  /** Closes it because another one has the keyboard now. */
  yieldKeyboard(): void;
}

/** What a terminal tells of itself. */
export interface HubHooks {
  /** Somebody has taken the keyboard. */
  readonly onHeld: () => void;
  /** Nobody has it any more. */
  readonly onAlone: () => void;
  /** It has ended. */
  readonly onEnd: () => void;
  readonly log: Log;
}

/** One terminal: what it printed lately, and who looks at it. It goes on when nobody does. */
export class TerminalHub {
  readonly ring = new OutputRing(KEPT_BYTES);
  /** How it ended, once all that it printed is in the ring. */
  ended: Ended | undefined;
  private readonly watchers = new Set<Watcher>();
  private waiting: Array<() => void> = [];
  private lastSize: TerminalSize;

  constructor(
    private readonly running: Running<Terminal>,
    size: TerminalSize,
    private readonly hooks: HubHooks,
  ) {
    this.lastSize = size;
    void this.pump()
      .catch((error) => hooks.log.warn('a terminal broke', { command: this.row.id, error }))
      .finally(() => void running.log.close());
  }

  get row(): ExecutionRow {
    return this.running.row;
  }

  get size(): TerminalSize {
    return this.lastSize;
  }

  /** Whoever has the keyboard. */
  get controller(): Watcher | undefined {
    return [...this.watchers].find(({ mode }) => mode === 'control');
  }

  get viewers(): number {
    return [...this.watchers].filter(({ mode }) => mode === 'view').length;
  }

  /** Adds a connection. One that takes the keyboard sends the one away that had it. */
  attach(watcher: Watcher): void {
    const last = watcher.mode === 'control' ? this.controller : undefined;
    this.watchers.add(watcher);
    if (watcher.mode === 'control') this.hooks.onHeld();
    last?.yieldKeyboard();
  }

  detach(watcher: Watcher): void {
    if (!this.watchers.delete(watcher)) return;
    this.wake();
    if (watcher.mode === 'control' && !this.controller) this.hooks.onAlone();
  }

  /** Resolves at the next thing that happens: more output, the end, or a connection that has caught up. */
  change(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Tells that a connection has sent more. */
  wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.running.process.write(bytes);
  }

  resize(size: TerminalSize): void {
    this.lastSize = size;
    this.running.process.resize(size);
  }

  signal(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP'): void {
    void this.running.process.kill(signal).catch(() => undefined);
  }

  private async pump(): Promise<void> {
    try {
      for await (const bytes of this.running.process.output) {
        this.running.head.add('stdout', bytes);
        await this.running.log.write(bytes);
        this.ring.push(bytes);
        this.wake();
        while (this.isBehind(this.controller)) await this.change();
      }
    } finally {
      this.ended = await this.running.ended;
      this.hooks.onEnd();
      this.wake();
    }
  }

  private isBehind(watcher: Watcher | undefined): boolean {
    return watcher !== undefined && this.ring.end - watcher.position > MAX_LAG;
  }
}
