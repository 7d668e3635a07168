import type { BoxMount } from '../drivers/driver.ts';
import type { Sandbox } from '../tables.ts';
import type { CreateRequest, SandboxConfig } from './config.ts';

/**
 * What sandboxes are made of beside an image: each room that keeps such things says what a request means by them,
 * whether they are still there, and where they are on this host.
 */
export interface Ingredient {
  /** The configuration with what the request names of this kind. Errors: what is wrong with it, naming the field. */
  resolve?(tenant: string, request: CreateRequest, config: SandboxConfig): SandboxConfig;
  /** Checks before a sandbox is made that what its configuration names is there. Errors: not_found and the like. */
  check?(tenant: string, config: SandboxConfig): void;
  /** Notes that a sandbox of this configuration starts. */
  used?(tenant: string, config: SandboxConfig): void;
  /** The folders of the host that the sandbox with this id has inside. */
  mounts?(config: SandboxConfig, id: string): readonly BoxMount[];
  /** Asks, where that takes a while, whether a sandbox can be made of this; undefined when there is nothing to ask. Nothing was made yet. */
  admit?(tenant: string, config: SandboxConfig): Promise<void> | undefined;
  /** Makes ready what a box stands on, before it starts; undefined when it has nothing of this kind. When it fails nothing is left. */
  attach?(row: Sandbox): Promise<void> | undefined;
  /** Lets go of that after the box has ended, for good when the sandbox is gone; undefined as for `attach`. */
  detach?(row: Sandbox, isGone: boolean): Promise<void> | undefined;
  /** Cuts off the processes of a box that hang on it and cannot be ended; undefined as for `attach`. */
  cut?(row: Sandbox): Promise<void> | undefined;
}

/** All ingredients, as one. */
export class Ingredients {
  private readonly all: Ingredient[] = [];

  /** Adds a kind; called while the module is composed. */
  add(ingredient: Ingredient): void {
    this.all.push(ingredient);
  }

  resolve(tenant: string, request: CreateRequest, config: SandboxConfig): SandboxConfig {
    return this.all.reduce((known, one) => one.resolve?.(tenant, request, known) ?? known, config);
  }

  check(tenant: string, config: SandboxConfig): void {
    for (const one of this.all) one.check?.(tenant, config);
  }

  used(tenant: string, config: SandboxConfig): void {
    for (const one of this.all) one.used?.(tenant, config);
  }

  mounts(config: SandboxConfig, id: string): readonly BoxMount[] {
    return this.all.flatMap((one) => one.mounts?.(config, id) ?? []);
  }

  admit(tenant: string, config: SandboxConfig): Promise<void> | undefined {
    return together(this.all.map((one) => one.admit?.(tenant, config)));
  }

  /** Starts a box on what it stands on. When that fails, nothing of the latter is left. */
  async starting<T>(row: Sandbox, start: () => Promise<T>): Promise<T> {
    const attaching = together(this.all.map((one) => one.attach?.(row)));
    if (!attaching) return start();
    await attaching;
    try {
      return await start();
    } catch (error) {
      await this.ended(row, false);
      throw error;
    }
  }

  /** Ends a box; what cannot be ended because it hangs on one of these is cut off from it. */
  async ending(row: Sandbox, end: () => Promise<void>, isGone: boolean): Promise<void> {
    try {
      await end();
    } catch (error) {
      const cutting = together(this.all.map((one) => one.cut?.(row)));
      if (!cutting) throw error;
      await cutting;
      await end();
    }
    await this.ended(row, isGone);
  }

  /** Lets go of what a box stood on that has ended. */
  async ended(row: Sandbox, isGone: boolean): Promise<void> {
    await together(this.all.map((one) => one.detach?.(row, isGone)));
  }
}

/** All of the work that there is; undefined when there is none. */
function together(work: ReadonlyArray<Promise<void> | undefined>): Promise<void> | undefined {
  const some = work.filter((one) => one !== undefined);
  return some.length > 0 ? Promise.all(some).then(() => {}) : undefined;
}
