import type { BoxMount } from '../drivers/driver.ts';
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
  /** The folders of the host that it has inside. */
  mounts?(config: SandboxConfig): readonly BoxMount[];
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

  mounts(config: SandboxConfig): readonly BoxMount[] {
    return this.all.flatMap((one) => one.mounts?.(config) ?? []);
  }
}
