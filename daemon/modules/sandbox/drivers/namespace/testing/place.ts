import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boxSpec, type Scene } from '../../conformance/scene.ts';
import type { SandboxDriver } from '../../driver.ts';
import { createNamespaceDriver } from '../index.ts';

/** A data directory with a driver and one running box of the image `host`, for one test file. */
export interface Place extends Scene {
  readonly instance: string;
  /** Removes every box and everything else that was made. */
  readonly close: () => Promise<void>;
}

/** What a test's driver is made with, where it matters. */
export interface PlaceOptions {
  readonly warm?: number;
  readonly log?: string[];
}

/** Opens a place for tests. */
export async function openPlace({ warm = 0, log = [] }: PlaceOptions = {}): Promise<Place> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-place-'));
  const instance = `p${crypto.randomUUID().slice(0, 6)}`;
  const restart = (): Promise<SandboxDriver> =>
    createNamespaceDriver({
      dataDir,
      instance,
      warm,
      log: (level, message) => log.push(`${level} ${message}`),
    });
  const driver = await restart();
  const box = (await driver.create(boxSpec('host'))).id;
  return {
    driver,
    box,
    dataDir,
    instance,
    options: { image: 'host' },
    restart,
    async close() {
      for (const { id } of await driver.list()) await driver.remove(id);
      await driver.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
