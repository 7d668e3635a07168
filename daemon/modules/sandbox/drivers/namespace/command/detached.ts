import { chownSync, closeSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from '../../../../../../src/errors/app-error.ts';
import type { Detached, ExecSpec, Exit } from '../../driver.ts';
import { exists, readJson, readText, writeWhole } from '../../host/files.ts';
import { makeGroup, removeTree } from '../../host/group-tree.ts';
import { isAlive, markOf, type ProcessMark } from '../../host/process.ts';
import { HOST_ENV } from '../../host/run.ts';
import { makeFifo } from '../../host/syscalls.ts';
import { outOfMemoryKills } from '../../host/usage.ts';
import type { Found } from '../box/boxes.ts';
import { boxGroup, type Host } from '../box/host.ts';
import { isSafeName } from '../box/paths.ts';
import { Entry, endedBy, entryDir, entryGroup, type KillSignal, signalEntry } from './enter.ts';
import { exitOf } from './exit.ts';

const POLL_FIRST_MS = 5;
const POLL_MOST_MS = 200;

/**
 * The keeper of a command: a process of the host that outlives the daemon, waits for the runtime and writes its
 * code down: it is whole when its line has ended. It leaves the daemon's control groups first, or a service manager that stops the daemon
 * by its group would end it. The command has a pipe, never the log itself: it could cut it off. It writes its number into a file that
 * nobody else may have made: a daemon that does not know whether it has begun makes that file itself, and then it never does.
 */
const KEEP = `for group in $1; do echo 0 >"$group" || :; done 2>/dev/null
dir=$2; log=$3; shift 3
set -C; echo $$ >"$dir/begun" || exit; set +C
cat <"$dir/output" >>"$log" &
"$@" >"$dir/output" 2>&1
echo $? >"$dir/code"
wait; : >"$dir/flushed"`;

/** How long the last output of an ended command may take to its log; then descendants are still writing. */
const FLUSH_MS = 500;

/** What is written down about a command beside its code. */
interface Kept {
  readonly keeper: ProcessMark | undefined;
  /** How often the kernel had taken processes of the box for memory before. */
  readonly memoryKills: number;
}

/** Starts a command that belongs to its box. Its id is its ref. */
export async function spawnDetached(
  host: Host,
  found: Found,
  spec: ExecSpec,
  logPath: string,
): Promise<Detached> {
  const entry = await Entry.open(host, found, { ...spec, stdin: false });
  closeSync(openSync(logPath, 'a', 0o600));
  const output = join(entry.dir, 'output');
  makeFifo(output);
  chownSync(output, entry.hostUid, entry.hostGid);
  const groups = await Promise.all(host.groups.roots.map((root) => makeGroup(root, keeperGroup(host))));
  const homes = groups.map((group) => join(group, 'cgroup.procs'));
  const keeper = ['/bin/sh', '-c', KEEP, 'sh', homes.join(' '), entry.dir, logPath];
  const child = Bun.spawn([...keeper, ...entry.argv], {
    env: { ...HOST_ENV },
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
  });
  child.unref();
  const memoryKills = outOfMemoryKills(host.groups, boxGroup(host, found.record.containerId));
  const kept: Kept = { keeper: markOf(child.pid), memoryKills };
  writeWhole(join(entry.dir, 'keeper.json'), JSON.stringify(kept));
  return follow(host, found, spec.id, kept, child.exited);
}

/** Finds a command that was started, by whichever daemon; undefined when nothing is known about it. */
export function attachDetached(host: Host, found: Omit<Found, 'init'>, ref: string): Detached | undefined {
  if (!isSafeName(ref)) return undefined;
  const dir = entryDir(found.dir, ref);
  const kept = readJson<Kept>(join(dir, 'keeper.json'));
  if (kept) return follow(host, found, ref, kept);
  // The daemon was cut off before it had written down the keeper, which has said who it is.
  const keeper = markOf(Number(readText(join(dir, 'begun'))));
  const memoryKills = outOfMemoryKills(host.groups, boxGroup(host, found.record.containerId));
  return keeper && follow(host, found, ref, { keeper, memoryKills });
}

/** Sees to it that a command whose start was cut off never begins; false when it may have begun. */
export function forestallDetached(found: Omit<Found, 'init'>, ref: string): boolean {
  if (!isSafeName(ref)) return false;
  const dir = entryDir(found.dir, ref);
  if (!exists(dir)) return true;
  try {
    closeSync(openSync(join(dir, 'begun'), 'wx', 0o600));
    return true;
  } catch {
    return false;
  }
}

function follow(
  host: Host,
  found: Omit<Found, 'init'>,
  ref: string,
  kept: Kept,
  keeperGone?: Promise<unknown>,
): Detached {
  const dir = entryDir(found.dir, ref);
  const { containerId } = found.record;
  const kills = () => outOfMemoryKills(host.groups, boxGroup(host, containerId));
  const exited = awaitCode(dir, kept, keeperGone).then((code): Exit => {
    void removeTree(entryGroup(host, containerId, ref));
    // It holds the environment, which may hold secrets.
    rmSync(join(dir, 'process.json'), { force: true });
    const sent = readText(join(dir, 'signal')) as KillSignal | undefined;
    const exit = endedBy(sent, exitOf(code, join(dir, 'runtime.log')));
    return exit.signal === 'SIGKILL' && sent !== 'SIGKILL' && kills() > kept.memoryKills
      ? { ...exit, outOfMemory: true }
      : exit;
  });
  exited.catch(() => {});
  return {
    ref,
    exited,
    async kill(signal: KillSignal) {
      const isOver = () => exists(join(dir, 'code')) || !isAlive(kept.keeper);
      if (isOver()) return;
      writeFileSync(join(dir, 'signal'), signal);
      await signalEntry(entryGroup(host, containerId, ref), dir, signal, isOver);
    },
  };
}

/**
 * The code that the keeper wrote, when the log is complete. A keeper of this process is noticed when it ends; what it leaves
 * behind, and the keeper of a former process, is looked for. Errors: unavailable when the keeper is gone and
 * wrote none (a crash of the host).
 */
async function awaitCode(dir: string, { keeper }: Kept, keeperGone?: Promise<unknown>): Promise<number> {
  const code = join(dir, 'code');
  let isGone = keeperGone === undefined;
  const gone = keeperGone?.then(() => {
    isGone = true;
  });
  for (let pause = POLL_FIRST_MS; ; pause = Math.min(pause * 1.5, POLL_MOST_MS)) {
    const alive = isAlive(keeper);
    const text = readText(code);
    if (text?.endsWith('\n')) {
      const since = () => Date.now() - (statSync(code, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      while (!exists(join(dir, 'flushed')) && isAlive(keeper) && since() < FLUSH_MS) await Bun.sleep(5);
      return Number(text);
    }
    if (!alive) throw fail('unavailable', { message: 'How this command ended was not recorded.' });
    const nap = Bun.sleep(pause);
    await (isGone ? nap : Promise.race([nap, gone]));
  }
}

/** Where the keepers of all boxes are, below every root of control groups. */
export function keeperGroup(host: Pick<Host, 'instance'>): string {
  return `/svc-${host.instance}-keepers`;
}
