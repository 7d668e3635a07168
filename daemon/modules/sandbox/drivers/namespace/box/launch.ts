import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { ImageMount } from '../../../images/index.ts';
import type { Limits } from '../../driver.ts';
import { readText } from '../../host/files.ts';
import { makeGroup } from '../../host/group-tree.ts';
import { isAlive, markOf, type ProcessMark } from '../../host/process.ts';
import { HostCommandError, run } from '../../host/run.ts';
import { bundleConfig } from './bundle.ts';
import { boxGroup, commandGroup, type Host } from './host.ts';
import { INIT_PATH } from './init-program.ts';
import { type BoxPaths, boxPaths } from './paths.ts';
import { runtimeError } from './runtime-log.ts';

const START_TIMEOUT_MS = 30_000;

/**
 * In a mount namespace of its own: without the cgroup2 mount that crun does not start beside, mount the layers
 * of the box and become the runtime. No mount of a box is ever in the host's table: when its last process ends,
 * they are gone.
 */
const START = 'set -e; [ -z "$1" ] || umount -l "$1"; mount -a -T "$2"; shift 2; exec "$@" >/dev/null 2>&1';

/** What to start. */
export interface Launch {
  readonly containerId: string;
  readonly mounts: readonly ImageMount[];
  readonly limits: Limits;
  /** The file that is /etc/resolv.conf inside. */
  readonly resolvConf: string;
}

/** Starts the box in a folder and gives its PID 1. Errors: HostCommandError with what the runtime said. */
export async function launch(host: Host, dir: string, spec: Launch): Promise<ProcessMark> {
  const paths = boxPaths(dir);
  writeBundle(host, paths, spec);
  await makeGroup(host.groups.tree, commandGroup(host, spec.containerId));
  const runtime = [
    ...[host.runtime.path, '--root', paths.state, '--log', paths.log, '--log-format', 'json'],
    ...(host.runtime.name === 'crun' ? ['--cgroup-manager', 'cgroupfs'] : []),
    ...['run', '--detach', '--bundle', paths.bundle, '--pid-file', paths.pidFile, spec.containerId],
  ];
  const start = ['/bin/sh', '-c', START, 'sh', host.groups.hybrid ?? '', paths.mountTable, ...runtime];
  await run(['unshare', '--mount', '--propagation', 'private', '--', ...start], {
    cwd: host.layout.images,
    timeoutMs: START_TIMEOUT_MS,
  }).catch((error: unknown) => {
    const said = runtimeError(paths.log);
    throw said ? new HostCommandError(host.runtime.name, 1, said) : error;
  });
  const init = markOf(Number(readText(paths.pidFile)));
  if (!init || !(await becomesInit(init)))
    throw new HostCommandError(host.runtime.name, 0, 'the first process of the box did not start');
  return init;
}

/**
 * Runtimes return a moment before PID 1 is the program that it is to be. A command that starts in that moment
 * fails, so this waits for it; on a busy machine it takes some milliseconds.
 */
async function becomesInit(init: ProcessMark): Promise<boolean> {
  const name = basename(INIT_PATH);
  for (let pause = 0; isAlive(init); pause = Math.min(pause + 1, 20)) {
    if (readText(`/proc/${init.pid}/comm`)?.trim() === name) return true;
    await Bun.sleep(pause);
  }
  return false;
}

function writeBundle(host: Host, paths: BoxPaths, spec: Launch): void {
  for (const folder of [paths.bundle, paths.upper, paths.work, paths.exec])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const { target } of spec.mounts) {
    mkdirSync(join(paths.work, nameOf(target)), { recursive: true });
    makeUpper(join(paths.upper, nameOf(target)), host.range.base);
  }
  writeFileSync(paths.mountTable, mountTable(host, paths, spec));
  writeFileSync(paths.log, '');
  const config = bundleConfig({
    rootPath: host.rootPath,
    cgroupPath: boxGroup(host, spec.containerId),
    limits: spec.limits,
    resolvConf: spec.resolvConf,
    groups: host.groups,
    range: host.range,
  });
  writeFileSync(join(paths.bundle, 'config.json'), JSON.stringify(config));
}

/** The root of an overlay has the owner and mode of its upper folder. */
function makeUpper(path: string, owner: number): void {
  if (mkdirSync(path, { recursive: true }) === undefined) return;
  chmodSync(path, 0o755);
  chownSync(path, owner, owner);
}

/**
 * What mount(8) mounts, in order (fstab(5)). Layers are named relative to the image folder, where it runs: no
 * name has a letter that would need escaping, and the options of many layers fit into the kernel's one page.
 */
function mountTable(host: Host, paths: BoxPaths, spec: Launch): string {
  const from = host.layout.images;
  const overlays = spec.mounts.map(({ target, lowers }) => {
    const upper = relative(from, join(paths.upper, nameOf(target)));
    const work = relative(from, join(paths.work, nameOf(target)));
    const options = `lowerdir=${lowers.join(':')},upperdir=${upper},workdir=${work},nosuid,nodev`;
    return `overlay ${join(host.rootPath, target)} overlay ${options} 0 0`;
  });
  return `${overlays.join('\n')}\n`;
}

function nameOf(target: string): string {
  return target === '/' ? 'root' : target.slice(1);
}
