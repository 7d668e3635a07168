import { afterAll, beforeAll, describe, setDefaultTimeout } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandRules } from './conformance/commands.ts';
import { detachedRules } from './conformance/detached.ts';
import { lifecycleRules } from './conformance/lifecycle.ts';
import { limitRules } from './conformance/limits.ts';
import { networkRules } from './conformance/network.ts';
import { outputRules } from './conformance/output.ts';
import { portRules } from './conformance/ports.ts';
import { boxSpec, type Scene } from './conformance/scene.ts';
import { securityRules } from './conformance/security.ts';
import { storageRules } from './conformance/storage.ts';
import { terminalRules } from './conformance/terminal.ts';
import type { SandboxDriver } from './driver.ts';

/** Where a driver keeps its things. The same place handed out twice is a daemon that was restarted. */
export interface DriverPlace {
  readonly dataDir: string;
  /** The name that sets this daemon's boxes apart from those of another daemon on the same host. */
  readonly instance: string;
}

/** What the rules need to know about the driver under test. */
export interface ConformanceOptions {
  /** An image with a POSIX sh and the core utilities. */
  readonly image: string;
  /** A reference that names nothing and that no network is asked for. */
  readonly missingImage?: string;
  /** False when the backend cannot tell that the kernel took a command for memory. */
  readonly detectsOutOfMemory?: boolean;
  /** Why nothing is run here: not root, no runtime. Shown as the name of the skipped suite. */
  readonly skip?: string;
}

/**
 * What every sandbox driver does, as tests: call it at the top level of a test file.
 * `CONFORMANCE_OUTPUT_MB` sets the size of the large output (8 when absent).
 */
export function driverConformance(
  name: string,
  makeDriver: (place: DriverPlace) => Promise<SandboxDriver>,
  options: ConformanceOptions,
): void {
  if (options.skip) {
    describe.skip(`${name} driver: ${options.skip}`, () => {});
    return;
  }
  describe(`${name} driver`, () => {
    setDefaultTimeout(60_000);
    const scene = {} as { -readonly [K in keyof Scene]: Scene[K] };
    beforeAll(async () => {
      const place = {
        dataDir: await mkdtemp(join(tmpdir(), 'svc-conformance-')),
        instance: `t${crypto.randomUUID().slice(0, 6)}`,
      };
      scene.dataDir = place.dataDir;
      scene.options = options;
      scene.restart = () => makeDriver(place);
      scene.driver = await makeDriver(place);
      await scene.driver.prepareImage(options.image);
      scene.box = (await scene.driver.create(boxSpec(options.image))).id;
    });
    afterAll(async () => {
      for (const { id } of (await scene.driver?.list()) ?? []) await scene.driver.remove(id);
      await scene.driver?.close();
      if (scene.dataDir) await rm(scene.dataDir, { recursive: true, force: true });
    });
    lifecycleRules(scene);
    commandRules(scene);
    outputRules(scene);
    detachedRules(scene);
    terminalRules(scene);
    limitRules(scene);
    portRules(scene);
    networkRules(scene);
    storageRules(scene);
    securityRules(scene);
  });
}
