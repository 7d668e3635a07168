import { createHash } from 'node:crypto';
import { fail } from '../../../../src/errors/app-error.ts';
import { newSecret } from '../../../../src/kit/id.ts';
import type { Caller } from '../../../http/route.ts';
import type { Log } from '../../../log/log.ts';
import type { OwnSandboxes } from '../../sandbox/index.ts';
import type { Outcome } from '../outcome.ts';
import { type Code, Instance } from './instance.ts';

/** What the pool stands on. */
export interface PoolParts {
  readonly own: OwnSandboxes;
  readonly log: Log;
  /** Where sandboxes are written down before they are made. */
  readonly ledger: Ledger;
  /** The image that code of this runtime runs on; the template's when empty. */
  readonly image: string;
  /** Most sandboxes of one tenant at once. */
  readonly most: number;
  /** How long one may be unused, in milliseconds. */
  readonly idleMs: number;
}

/** Remembers sandboxes over a crash. */
export interface Ledger {
  add(tenant: string, key: string): void;
  remove(tenant: string, key: string): void;
}

/** Most calls of one tenant that wait for a sandbox. */
const MOST_WAITING = 100;
const LONGEST_WAIT_MS = 60_000;

/** What one tenant has. A place is taken from before a sandbox is made until it is gone. */
interface Share {
  readonly instances: Set<Instance>;
  places: number;
  readonly waiting: Array<() => void>;
}

/** Keeps sandboxes with the code of functions in them, so that the next call need not wait for one. */
export class Pool {
  private readonly shares = new Map<string, Share>();
  private readonly timers = new Map<Instance, Timer>();
  private readonly endings = new Set<Promise<void>>();
  private isClosed = false;

  constructor(private readonly parts: PoolParts) {}

  /** Calls code. Errors: cancelled, resource_exhausted (too many calls wait), and those of making a sandbox. */
  async call(
    caller: Caller,
    code: Code,
    args: unknown,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const got = await this.acquire(caller, code, signal);
    if (!(got instanceof Instance)) return got;
    try {
      return await got.call(args, timeoutMs, signal);
    } finally {
      this.release(got);
    }
  }

  /** Ends what runs a function that is changed or gone; calls that go on end by themselves. */
  retire(tenant: string, functionId: string): void {
    for (const instance of this.shares.get(tenant)?.instances ?? [])
      if (instance.parts.code.functionId === functionId) {
        instance.isSpent = true;
        if (!instance.isBusy) this.discard(instance);
      }
  }

  /** Ends all. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const { instances } of this.shares.values()) for (const one of instances) this.discard(one);
    await Promise.all(this.endings);
  }

  private async acquire(caller: Caller, code: Code, signal: AbortSignal): Promise<Instance | Outcome> {
    const revision = revisionOf(code);
    const deadline = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      const share = this.shareOf(caller.tenant);
      if (signal.aborted || this.isClosed) {
        // The turn that it may have been given is somebody else's.
        share.waiting.shift()?.();
        throw fail('cancelled');
      }
      const idle = [...share.instances].filter(({ isBusy }) => !isBusy);
      const fit = idle.find((one) => one.isUsable && revisionOf(one.parts.code) === revision);
      if (fit) return this.take(fit);
      if (share.places < this.parts.most) return this.start(share, caller, code, signal);
      const oldest = idle.toSorted((a, b) => a.lastUsed - b.lastUsed)[0];
      if (oldest) this.discard(oldest);
      const left = deadline - performance.now();
      if (left <= 0 || share.waiting.length >= MOST_WAITING)
        throw fail('resource_exhausted', {
          message: `All ${this.parts.most} sandboxes for functions are busy (functions.instances).`,
        });
      await this.turn(share, left, signal);
    }
  }

  /** Waits until a place or an instance is free, or it has taken too long. */
  private async turn({ waiting }: Share, mostMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const give = () => resolve();
    const timer = setTimeout(give, mostMs);
    waiting.push(resolve);
    signal.addEventListener('abort', give, { once: true });
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', give);
    const at = waiting.indexOf(resolve);
    if (at !== -1) waiting.splice(at, 1);
  }

  private async start(
    share: Share,
    caller: Caller,
    code: Code,
    signal: AbortSignal,
  ): Promise<Instance | Outcome> {
    const { own, ledger, image } = this.parts;
    const key = `function-${newSecret()}`;
    share.places++;
    ledger.add(caller.tenant, key);
    const free = () => {
      ledger.remove(caller.tenant, key);
      share.places--;
      share.waiting.shift()?.();
    };
    const onEnd = (instance: Instance) => !instance.isBusy && this.discard(instance);
    try {
      const made = await Instance.start({ own, caller, key, code, image, onEnd }, signal);
      if (!(made instanceof Instance)) {
        free();
        return made;
      }
      share.instances.add(made);
      return this.take(made);
    } catch (error) {
      free();
      throw error;
    }
  }

  private take(instance: Instance): Instance {
    clearTimeout(this.timers.get(instance));
    this.timers.delete(instance);
    instance.isBusy = true;
    return instance;
  }

  private release(instance: Instance): void {
    instance.isBusy = false;
    instance.lastUsed = performance.now();
    if (this.isClosed || !instance.isUsable) {
      this.discard(instance);
      return;
    }
    const timer = setTimeout(() => this.discard(instance), this.parts.idleMs);
    timer.unref();
    this.timers.set(instance, timer);
    this.shareOf(instance.parts.caller.tenant).waiting.shift()?.();
  }

  /** Takes an instance out, and gives its place back when its sandbox is gone. */
  private discard(instance: Instance): void {
    const { caller, key, code } = instance.parts;
    const share = this.shareOf(caller.tenant);
    if (!share.instances.delete(instance)) return;
    clearTimeout(this.timers.get(instance));
    this.timers.delete(instance);
    const ending = this.end(instance, caller.tenant, key, code.functionId).finally(() => {
      this.endings.delete(ending);
      share.places--;
      share.waiting.shift()?.();
      if (share.places === 0 && share.waiting.length === 0) this.shares.delete(caller.tenant);
    });
    this.endings.add(ending);
  }

  /** A sandbox that cannot be ended stays written down, for the next start. */
  private async end(instance: Instance, tenant: string, key: string, functionId: string): Promise<void> {
    try {
      await instance.end();
      this.parts.ledger.remove(tenant, key);
    } catch (error) {
      this.parts.log.warn('the sandbox of a function could not be ended', { function: functionId, error });
    }
  }

  private shareOf(tenant: string): Share {
    const share = this.shares.get(tenant) ?? { instances: new Set(), places: 0, waiting: [] };
    this.shares.set(tenant, share);
    return share;
  }
}

/** What has to be the same for a sandbox to serve: the code, and what it was promised. */
function revisionOf({ functionId, runtime, code, memoryMb }: Code): string {
  return createHash('sha256')
    .update(JSON.stringify([functionId, runtime, code, memoryMb]))
    .digest('base64');
}
