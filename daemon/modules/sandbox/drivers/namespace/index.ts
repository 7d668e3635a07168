import { mkdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fail } from '../../../../../src/errors/app-error.ts';
import { createImageStore, type ImageFetch } from '../../images/index.ts';
import type { SandboxDriver } from '../driver.ts';
import { findGroups, missingControllers } from '../host/control-groups.ts';
import type { HostLog } from '../host/log.ts';
import { findRuntime } from '../host/runtime.ts';
import { idRangeOf } from '../host/user-namespace.ts';
import { Network } from '../network/network.ts';
import { CALL_PATH, callProgram } from '../programs/call-program.ts';
import type { Host } from './box/host.ts';
import { INIT_PATH, initProgram } from './box/init-program.ts';
import { layoutOf } from './box/paths.ts';
import { START_PATH, startProgram } from './box/start-program.ts';
import { namespaceDriver, unusableDriver } from './driver.ts';
import { whyUnusable } from './probe.ts';

/** What the namespace driver is made with. */
export interface NamespaceDriverOptions {
  /** Boxes are kept in `boxes` below it, images in `images`. Only root may enter those. */
  readonly dataDir: string;
  /** Sets this daemon's boxes apart from those of another one on the same host: letters, digits and `-`. */
  readonly instance: string;
  readonly log: HostLog;
  /** Who is asked for names that boxes look up, as `address` or `address:port`; the host's name servers when absent. */
  readonly nameServers?: readonly string[];
  /** How many boxes of the image `host` wait ready to be handed out. 2 when absent, 0 for none. */
  readonly warm?: number;
  /** The one way out for the registry client; without it no image is downloaded. */
  readonly fetch?: ImageFetch;
}

const DEFAULT_WARM = 2;
const ROOT_PATHS = ['/mnt', '/media', '/srv', '/opt'];

/**
 * A driver that makes boxes of the host's own namespaces, control groups and overlays, started by crun or runc.
 * On a host that lacks something it still answers `probe`, and every other call is runtime_missing.
 * Errors: none; what is wrong is in the probe.
 */
export async function createNamespaceDriver(options: NamespaceDriverOptions): Promise<SandboxDriver> {
  const reason = whyUnusable(options.instance);
  if (reason) return unusableDriver(options, reason);
  const runtime = await findRuntime();
  if (!runtime) return unusableDriver(options, 'Neither crun nor runc is installed.');
  const layout = layoutOf(options.dataDir);
  for (const dir of [layout.boxes, layout.images, layout.shared])
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  const runDir = `/run/svc-${options.instance}`;
  const range = idRangeOf(options.instance);
  const images = createImageStore({
    images: layout.images,
    dataDir: options.dataDir,
    shiftDir: join(runDir, 'lower'),
    range,
    files: [
      { path: INIT_PATH.slice(1), content: initProgram(), mode: 0o755 },
      { path: START_PATH.slice(1), content: startProgram(), mode: 0o755 },
      { path: CALL_PATH.slice(1), content: callProgram(), mode: 0o755 },
    ],
    fetch: options.fetch,
  });
  const host: Host = {
    instance: options.instance,
    layout,
    runtime,
    groups: await findGroups(join(layout.shared, 'cgroup')),
    range,
    images,
    network: new Network({
      instance: options.instance,
      dir: layout.shared,
      openDir: runDir,
      nameServers: options.nameServers,
      log: options.log,
    }),
    runDir,
    rootPath: rootPath(options.dataDir),
    log: options.log,
  };
  const unlimited = missingControllers(host.groups);
  if (unlimited.length > 0) options.log('warn', 'sandboxes have no limits of some kinds', { unlimited });
  return namespaceDriver(host, options.warm ?? DEFAULT_WARM);
}

/** A folder that every host has, that everybody may enter, and that the data directory is not below. */
function rootPath(dataDir: string): string {
  const found = ROOT_PATHS.find((path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isDirectory() && (stat.mode & 0o001) !== 0 && !`${dataDir}${sep}`.startsWith(path + sep);
  });
  if (!found)
    throw fail('runtime_missing', { message: `None of ${ROOT_PATHS.join(', ')} is a folder here.` });
  return found;
}
