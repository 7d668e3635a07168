import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { invalid } from '../../../../../../src/errors/app-error.ts';
import type { ExecSpec, Exit } from '../../driver.ts';
import { readText } from '../../host/files.ts';
import {
  awaitEmpty,
  isPopulated,
  killGroup,
  makeSubgroup,
  processesOf,
  removeTree,
  signalGroup,
} from '../../host/group-tree.ts';
import { hasExecuted } from '../../host/process.ts';
import { outOfMemoryKills } from '../../host/usage.ts';
import type { Found } from '../box/boxes.ts';
import { boxGroup, commandGroup, type Host } from '../box/host.ts';
import { boxPaths, isSafeName } from '../box/paths.ts';
import { processSpec } from '../box/process-spec.ts';
import { exitOf, isRuntimeFailure } from './exit.ts';

/** The signals that a command can be sent. */
export type KillSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP';

const KILL_DEADLINE_MS = 5_000;
const BEGIN_DEADLINE_MS = 2_000;
/** How long a runtime that was spared may take to reap its command and to end. */
const REAP_MS = 500;
const RUNTIME_PID = 'runtime.pid';

/** Says who it is, puts itself into a control group and becomes the program: what it starts is born in the group. */
const JOIN = 'echo $$ >"$2" && echo 0 >"$1" && shift 2 && exec "$@"';

/** What a command has beside its words. */
export interface EntryOptions {
  /** How many descriptors from 3 on it keeps. */
  readonly preserve?: number;
}

/**
 * A command on its way into a box: the words that start it, and the control group that all its descendants
 * are born into and cannot leave, however they fork or change sessions. Killing is done by that group.
 */
export class Entry {
  readonly argv: readonly [string, ...string[]];
  /** The ids of its user on the host: they own its pipes, so that it can open them again by name. */
  readonly hostUid: number;
  readonly hostGid: number;
  private readonly group: string;
  private killsBefore: number;
  private sent: KillSignal | undefined;
  private isOver = false;

  /** Prepares a command. Errors: ENOENT when the box was removed, invalid_argument. */
  static async open(host: Host, found: Found, spec: ExecSpec, options: EntryOptions = {}): Promise<Entry> {
    const entry = new Entry(host, found, spec, options);
    await makeSubgroup(entry.group);
    return entry;
  }

  private constructor(
    private readonly host: Host,
    private found: Found,
    private readonly spec: ExecSpec,
    { preserve = 0 }: EntryOptions,
  ) {
    const { containerId } = found.record;
    this.group = entryGroup(host, containerId, spec.id);
    // Not the folders above: those of a box that was removed a moment ago stay gone.
    mkdirSync(this.dir, { mode: 0o700 });
    writeFileSync(this.logPath, '');
    const process = processSpec(found.record, spec);
    writeFileSync(join(this.dir, 'process.json'), JSON.stringify(process));
    const { base, size } = host.range;
    this.hostUid = base + (process.user.uid < size ? process.user.uid : 0);
    this.hostGid = base + (process.user.gid < size ? process.user.gid : 0);
    this.killsBefore = this.memoryKills();
    this.argv = this.words(preserve);
  }

  /** Its folder, for what is kept about it. */
  get dir(): string {
    return entryDir(this.found.dir, this.spec.id);
  }

  /** Waits until the program itself runs, so that nothing needs the folder of the box under its old name any more. */
  async begun(hasEnded: () => boolean): Promise<void> {
    const deadline = Date.now() + BEGIN_DEADLINE_MS;
    while (!hasBegun(this.group, this.dir) && !hasEnded() && Date.now() < deadline) await Bun.sleep(1);
  }

  /** Makes it a command of the box as it is now: its folder may have another name, and counting begins. */
  hand(found: Found): void {
    this.found = found;
    this.killsBefore = this.memoryKills();
  }

  /** Sends a signal to the command and all its descendants, but not to the runtime that waits for it. */
  async kill(signal: KillSignal): Promise<void> {
    this.sent = signal;
    await signalEntry(this.group, this.dir, signal, () => this.isOver);
  }

  /** How it ended, from the code of the runtime. */
  exit(code: number): Exit {
    this.isOver = true;
    const exit = endedBy(this.sent, exitOf(code, this.logPath));
    if (exit.signal !== 'SIGKILL' || this.sent === 'SIGKILL') return exit;
    return this.memoryKills() > this.killsBefore ? { ...exit, outOfMemory: true } : exit;
  }

  /** Takes away what was kept about it. Its group stays while descendants live on. */
  forget(): void {
    rmSync(this.dir, { recursive: true, force: true });
    void removeTree(this.group);
  }

  private get logPath(): string {
    return join(this.dir, 'runtime.log');
  }

  private memoryKills(): number {
    return outOfMemoryKills(this.host.groups, boxGroup(this.host, this.found.record.containerId));
  }

  private words(preserve: number): [string, ...string[]] {
    const { runtime, groups } = this.host;
    const unified = groups.layout === 'v2';
    const words: [string, ...string[]] = [
      runtime.path,
      ...['--root', boxPaths(this.found.dir).state, '--log', this.logPath, '--log-format', 'json', 'exec'],
      ...(unified ? ['--cgroup', runtime.name === 'crun' ? this.spec.id : `/${this.spec.id}`] : []),
      ...(preserve > 0 ? ['--preserve-fds', String(preserve)] : []),
      ...['--process', join(this.dir, 'process.json'), this.found.record.containerId],
    ];
    if (unified) return words;
    const group = join(this.group, 'cgroup.procs');
    return ['/bin/sh', '-c', JOIN, 'sh', group, join(this.dir, RUNTIME_PID), ...words];
  }
}

/** The folder of a command in the folder of its box. Errors: invalid_argument. */
export function entryDir(boxDir: string, id: string): string {
  if (!isSafeName(id))
    throw invalid({ field: 'id', description: `${JSON.stringify(id)} is no id of a command` });
  return join(boxPaths(boxDir).exec, id);
}

/** The control group of a command. */
export function entryGroup(host: Host, containerId: string, id: string): string {
  return join(host.groups.tree, commandGroup(host, containerId), id);
}

/**
 * Signals a command by its group, and not the runtime that waits for it, which may be in the group too. One that
 * is only about to begin is waited for: a signal to an empty group is lost, and one that is meant for the program
 * would end the runtime on its way there. SIGKILL spares the runtime too, when it is there to reap: without it the
 * first process of the host would have to, and the box could not end before. It waits until nothing is left.
 */
export async function signalEntry(
  group: string,
  dir: string,
  signal: KillSignal,
  isOver: () => boolean,
): Promise<void> {
  const isReady = () => (signal === 'SIGKILL' ? isPopulated(group) : hasBegun(group, dir));
  const deadline = Date.now() + KILL_DEADLINE_MS;
  while (!isReady()) {
    if (isOver() || Date.now() > deadline) return;
    await Bun.sleep(2);
  }
  const runtime = runtimePid(dir);
  const isReaped = !Number.isNaN(runtime) && hasBegun(group, dir);
  if (signal !== 'SIGKILL' || isReaped) await signalGroup(group, signal, runtime);
  if (signal !== 'SIGKILL' || (isReaped && (await awaitEmpty(group, REAP_MS)))) return;
  await killGroup(group);
  await awaitEmpty(group, KILL_DEADLINE_MS);
}

/** Whether the program itself runs, not only the runtime that is about to start it. */
function hasBegun(group: string, dir: string): boolean {
  const runtime = runtimePid(dir);
  return processesOf(group).some((pid) => pid !== runtime && hasExecuted(pid));
}

/** The runtime that is in the group of its command; NaN where it is not. */
function runtimePid(dir: string): number {
  return Number.parseInt(readText(join(dir, RUNTIME_PID)) ?? '', 10);
}

/**
 * A command that a signal ended before it was the program is one that the signal ended. SIGKILL may take the
 * child of the runtime without a word; the runtime then only says that it failed.
 */
export function endedBy(signal: KillSignal | undefined, exit: Exit): Exit {
  const isSilent = signal === 'SIGKILL' && isRuntimeFailure(exit.code);
  if (signal === undefined || (exit.startError === undefined && !isSilent)) return exit;
  return { code: 128 + constants.signals[signal], signal };
}
