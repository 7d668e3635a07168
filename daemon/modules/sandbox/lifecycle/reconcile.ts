import type { Log } from '../../../log/log.ts';
import type { BoxState, SandboxDriver } from '../drivers/driver.ts';
import type { Sandbox } from '../tables.ts';
import type { LifecycleService } from './service.ts';

/** What reconciling found. */
export interface Reconciled {
  /** Sandboxes that went on running while nobody watched. */
  readonly adopted: readonly Sandbox[];
}

const CUT_OFF = 'svc was interrupted while it was being restored';
const INTERRUPTED = 'svc was interrupted while it was being made';

/**
 * Compares the rows with what the host really has, after a start: adopts what runs, writes down what
 * stopped, finishes what was cut off, and removes boxes that nobody knows.
 */
export async function reconcile(
  lifecycle: LifecycleService,
  driver: SandboxDriver,
  log: Log,
): Promise<Reconciled> {
  const boxes = new Map((await driver.list()).map((box) => [box.id, box]));
  const rows = lifecycle.store.living().filter((row) => row.backend === driver.name);
  const adopted: Sandbox[] = [];
  for (const row of rows) if (await settle(lifecycle, driver, row, boxes.get(row.id))) adopted.push(row);
  const known = new Set(rows.map((row) => row.id));
  const orphans = [...boxes.keys()].filter((id) => !known.has(id));
  for (const id of orphans)
    await driver.remove(id).catch((error) => log.warn('an orphan could not be removed', { box: id, error }));
  await lifecycle.archives.keepOnly(new Set(lifecycle.store.living().map((row) => row.id)));
  await Promise.all(
    adopted.map(({ id, config }) =>
      driver
        .setNetwork(id, config.network)
        .catch((error) =>
          log.warn('a sandbox could not be held to its network policy', { sandbox: id, error }),
        ),
    ),
  );
  log.info('sandboxes reconciled', { adopted: adopted.length, orphans: orphans.length });
  return { adopted };
}

/** Brings one row in line with its box. True when it runs and was adopted. */
async function settle(
  lifecycle: LifecycleService,
  driver: SandboxDriver,
  row: Sandbox,
  box: BoxState | undefined,
): Promise<boolean> {
  const runs = box?.state === 'running';
  switch (row.state) {
    case 'running':
      if (!runs) found(lifecycle, row, box);
      return runs;
    case 'pending':
    case 'creating':
      if (box) await driver.remove(row.id);
      lifecycle.settle(
        row,
        row.state,
        { state: 'failed', failure: INTERRUPTED, reason: 'system', idempotencyKey: null },
        { type: 'failed', message: 'Could not be made', error: INTERRUPTED },
      );
      return false;
    case 'stopping':
      if (runs) await driver.stop(row.id);
      found(lifecycle, row, box);
      return false;
    case 'reviving':
      return woken(lifecycle, driver, row, box);
    case 'archiving':
      await lifecycle.archives.remove(row.id);
      found(lifecycle, row, box);
      return false;
    case 'archived':
      if (box) await driver.remove(row.id);
      if (!lifecycle.archives.has(row.id)) found(lifecycle, row, undefined);
      return false;
    case 'terminating':
      await driver.remove(row.id);
      lifecycle.settle(
        row,
        'terminating',
        { state: 'terminated' },
        { type: 'terminated', message: 'Gone for good' },
      );
      return false;
    default:
      return false;
  }
}

/** A sandbox that was on its way back: what half came out of its archive is dropped, the archive stays. */
async function woken(
  lifecycle: LifecycleService,
  driver: SandboxDriver,
  row: Sandbox,
  box: BoxState | undefined,
): Promise<boolean> {
  if (box?.state === 'running') {
    lifecycle.settle(row, 'reviving', { state: 'running' }, { type: 'revived', message: 'Running again' });
    await lifecycle.archives.remove(row.id);
    return true;
  }
  if (!lifecycle.archives.has(row.id)) found(lifecycle, row, box);
  else {
    if (box) await driver.remove(row.id);
    const event = { type: 'error', message: 'Could not be restored', error: CUT_OFF };
    lifecycle.settle(row, 'reviving', { state: 'archived' }, event);
  }
  return false;
}

/** A sandbox that does not run: asleep when its files are there, failed when they are gone. */
export function found(lifecycle: LifecycleService, row: Sandbox, box: BoxState | undefined): void {
  if (box) {
    const change = {
      state: 'sleeping' as const,
      stoppedAt: row.updatedAt,
      reason: 'system' as const,
      expiresAt: null,
      ...lifecycle.sleepDates(row.config),
    };
    lifecycle.settle(row, row.state, change, {
      type: 'stopped',
      message: 'Found stopped; its files are kept',
    });
    return;
  }
  const failure = 'its container and files are gone from this host';
  lifecycle.settle(
    row,
    row.state,
    { state: 'failed', failure, reason: 'error' },
    { type: 'failed', message: 'Lost', error: failure },
  );
}
