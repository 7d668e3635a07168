import type { Log } from '../log/log.ts';

/**
 * What happens inside the instance. Every event is a row before it is published.
 * Listeners: event streams, metrics, webhooks.
 */
export interface Events {
  /** A sandbox changed its state or something happened to it; the row of sandbox_events. */
  'sandbox.event': {
    readonly tenant: string;
    readonly sandboxId: string;
    readonly eventId: number;
    /** `created`, `running`, `stopped`, `revived`, `terminated`, `failed`, `command.finished`... */
    readonly type: string;
    readonly message: string;
  };
}

type Listener<K extends keyof Events> = (event: Events[K]) => void;

/** Carries events from the services to whoever watches. A listener that throws harms nobody else. */
export class Bus {
  private readonly listeners = new Map<keyof Events, Set<Listener<never>>>();

  constructor(private readonly log: Log) {}

  /** Listens; returns the function that ends it. */
  on<K extends keyof Events>(type: K, listener: Listener<K>): () => void {
    const set = this.listeners.get(type) ?? new Set();
    this.listeners.set(type, set);
    set.add(listener as Listener<never>);
    return () => set.delete(listener as Listener<never>);
  }

  publish<K extends keyof Events>(type: K, event: Events[K]): void {
    for (const listener of this.listeners.get(type) ?? []) this.deliver(type, listener as Listener<K>, event);
  }

  private deliver<K extends keyof Events>(type: K, listener: Listener<K>, event: Events[K]): void {
    try {
      listener(event);
    } catch (error) {
      this.log.error('a listener failed', { type, error });
    }
  }
}
