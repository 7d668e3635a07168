import { asAppError } from '../../../../src/errors/app-error.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import { found } from '../lifecycle/reconcile.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { Sandbox } from '../tables.ts';

/** Whether a failed measurement says that the box does not run. A backend that cannot be asked says nothing. */
export function maybeGone(error: unknown): boolean {
  return ['not_found', 'failed_precondition'].includes(asAppError(error).code);
}

/**
 * Looks at a sandbox that should run and could not be measured. When its box was stopped or taken away behind svc's
 * back, its row and an event say so, and what the box held of this host is given back.
 */
export function noticeGone(lifecycle: LifecycleService, driver: SandboxDriver, row: Sandbox): Promise<void> {
  return lifecycle.exclusively(row.tenant, row.id, async (current) => {
    if (current.state !== 'running') return;
    const box = await driver.inspect(current.id);
    if (box.state === 'running') return;
    if (box.state === 'stopped') await driver.stop(current.id);
    found(lifecycle, current, box.state === 'missing' ? undefined : box);
  });
}
