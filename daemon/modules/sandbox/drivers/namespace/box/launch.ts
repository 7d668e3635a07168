import { chmodSync, chownSync, mkdirSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { ImageMount } from '../../../images/index.ts';
import type { BoxMount, Limits } from '../../driver.ts';
import { readText } from '../../host/files.ts';
import { makeGroup } from '../../host/group-tree.ts';
import { isAlive, markOf, type ProcessMark } from '../../host/process.ts';
import { HostCommandError, run } from '../../host/run.ts';
import { isSnapshotLayer } from '../snapshot/snapshots.ts';
import { type Bind, withBinds } from './binds.ts';
import { bundleConfig } from './bundle.ts';
import { boxGroup, commandGroup, type Host } from './host.ts';
import { INIT_PATH } from './init-program.ts';
import { type BoxPaths, boxPaths } from './paths.ts';
import { runtimeError } from './runtime-log.ts';

const START_TIMEOUT_MS = 30_000;

/**
 * In a mount namespace of its own: without the cgroup2 mount that crun does not start beside, mount the layers
 * of the box, show its folders in places that everybody may enter, see that no link stands where they are to be,
 * and become the runtime. No mount of a box stays in the host's table: when its last process ends, they are gone.
 */
const START = `set -e
[ -z "$1" ] || umount -l "$1"
mount -a -T "$2"
root=$3 binds=$4
shift 4
while [ "$binds" -gt 0 ]; do
  mount --bind "$1" "$2"
  at=$root rest=$3
  while [ -n "$rest" ]; do
    rest=\${rest#/}
    at=$at/\${rest%%/*}
    [ ! -L "$at" ] || { echo "\${at#"$root"} is a link: nothing can be mounted there" >&2; exit 1; }
    case $rest in */*) rest=/\${rest#*/} ;; *) rest= ;; esac
  done
  shift 3
  binds=$((binds - 1))
done
exec "$@" >/dev/null 2>&1`;

/** What to start. */
export interface Launch {
  readonly containerId: string;
  readonly mounts: readonly ImageMount[];
  /** Folders of the host that it has inside. */
  readonly binds: readonly BoxMount[];
  readonly limits: Limits;
  /** The file that is /etc/resolv.conf inside. */
  readonly resolvConf: string;
}

/** Starts the box in a folder and gives its PID 1. Errors: HostCommandError with what the runtime said. */
export async function launch(host: Host, dir: string, spec: Launch): Promise<ProcessMark> {
  const paths = boxPaths(dir);
  await makeGroup(host.groups.tree, commandGroup(host, spec.containerId));
  await withBinds(host, paths, spec.binds, async (binds) => {
    writeBundle(host, paths, spec, binds);
    await runRuntime(host, paths, spec, binds);
  });
  const init = markOf(Number(readText(paths.pidFile)));
  if (!init || !(await becomesInit(init)))
    throw new HostCommandError(host.runtime.name, 0, 'the first process of the box did not start');
  return init;
}

async function runRuntime(host: Host, paths: BoxPaths, spec: Launch, binds: readonly Bind[]): Promise<void> {
  const runtime = [
    ...[host.runtime.path, '--root', paths.state, '--log', paths.log, '--log-format', 'json'],
    ...(host.runtime.name === 'crun' ? ['--cgroup-manager', 'cgroupfs'] : []),
    ...['run', '--detach', '--bundle', paths.bundle, '--pid-file', paths.pidFile, spec.containerId],
  ];
  const start = [
    ...['/bin/sh', '-c', START, 'sh', host.groups.hybrid ?? '', paths.mountTable, host.rootPath],
    ...[String(binds.length), ...binds.flatMap(({ stage, source, target }) => [stage, source, target])],
  ];
  await run(['unshare', '--mount', '--propagation', 'private', '--', ...start, ...runtime], {
    cwd: host.layout.images,
    timeoutMs: START_TIMEOUT_MS,
  }).catch((error: unknown) => {
    const said = runtimeError(paths.log);
    throw said ? new HostCommandError(host.runtime.name, 1, said) : error;
  });
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

function writeBundle(host: Host, paths: BoxPaths, spec: Launch, binds: readonly Bind[]): void {
  for (const folder of [paths.bundle, paths.upper, paths.work, paths.exec])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const { target, lowers } of spec.mounts) {
    mkdirSync(join(paths.work, nameOf(target)), { recursive: true });
    makeUpper(join(paths.upper, nameOf(target)), rootOf(host, lowers));
  }
  writeFileSync(paths.mountTable, mountTable(host, paths, spec));
  writeFileSync(paths.log, '');
  const config = bundleConfig({
    rootPath: host.rootPath,
    cgroupPath: boxGroup(host, spec.containerId),
    limits: spec.limits,
    resolvConf: spec.resolvConf,
    binds,
    groups: host.groups,
    range: host.range,
  });
  writeFileSync(join(paths.bundle, 'config.json'), JSON.stringify(config));
}

type Root = Pick<Stats, 'mode' | 'uid' | 'gid'>;

/** The root of an overlay has the owner and mode of its upper folder. */
function makeUpper(path: string, { mode, uid, gid }: Root): void {
  if (mkdirSync(path, { recursive: true }) === undefined) return;
  chownSync(path, uid, gid);
  chmodSync(path, mode & 0o7777);
}

/** A box of a snapshot has the root that the snapshot had. */
function rootOf({ layout, range: { base } }: Host, [top = '']: readonly string[]): Root {
  return isSnapshotLayer(top) ? statSync(join(layout.images, top)) : { mode: 0o755, uid: base, gid: base };
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
