import type { Duplex } from 'node:stream';

/**
 * What a sandbox backend can do. The service above decides what may happen and keeps the rows;
 * a driver only makes it happen on this host. A driver keeps no truth in memory: after a restart
 * `list`, `inspect` and `attach` find everything again.
 */
export interface SandboxDriver {
  readonly name: 'namespace' | 'docker';

  /** What this host offers and lacks. Never throws; a missing part is a finding. */
  probe(): Promise<Probe>;

  /**
   * Makes an image usable and keeps it. Quick when it is there already.
   * Errors: image_not_found, disk_full, runtime_missing.
   */
  prepareImage(
    image: string,
    progress?: (step: ImageProgress) => void,
    signal?: AbortSignal,
  ): Promise<ImageInfo>;

  /**
   * Makes a box and starts it; on return it runs and takes commands. On failure nothing is left behind.
   * Errors: image_not_found, runtime_missing, disk_full, unavailable.
   */
  create(spec: BoxSpec): Promise<Box>;

  /** Starts a stopped box again on the files it had. Errors: not_found, unavailable. */
  start(id: string, spec: BoxSpec): Promise<Box>;

  /** Ends every process of a box and keeps its files. A stopped box stays stopped. */
  stop(id: string): Promise<void>;

  /** Removes a box, its processes and its files. A missing box is fine. */
  remove(id: string): Promise<void>;

  /** The state of a box as the host knows it. */
  inspect(id: string): Promise<BoxState>;

  /** All boxes of this instance on this host, running or not. */
  list(): Promise<BoxState[]>;

  /** Changes the limits of a running box at once. */
  update(id: string, limits: Limits): Promise<void>;

  /**
   * Changes what a box reaches. On a running one it holds when this resolves, also for connections that are open.
   * Errors: not_found, not_configured (a policy that cannot be held here).
   */
  setNetwork(id: string, policy: NetworkPolicy): Promise<void>;

  /** The latest names that a box looked up since this daemon started, newest first; at most 200. */
  lookups(id: string): readonly Lookup[];

  /** What a running box uses now. Errors: not_found. */
  stats(id: string): Promise<BoxStats>;

  /** Bytes of the disk that the files take which a box has changed. Slow: it looks at each. Errors: not_found. */
  diskUsage(id: string): Promise<number>;

  /** Runs a command that belongs to its caller: output through pipes, gone when the daemon goes. */
  exec(id: string, spec: ExecSpec): Promise<Execution>;

  /**
   * Runs a command that belongs to the box: it survives the daemon.
   * Its stdout and stderr are appended, together, to `logPath`; stdin is /dev/null.
   */
  spawn(id: string, spec: ExecSpec, logPath: string): Promise<Detached>;

  /** Finds a command that `spawn` started, after a restart of the daemon; undefined when no trace is left. */
  attach(id: string, ref: string): Promise<Detached | undefined>;

  /**
   * Sees to it that a command whose `spawn` a former process has not seen the end of never begins, by the id of its spec. Answers
   * false when it may have begun, or nobody can say.
   */
  forestall(id: string, specId: string): Promise<boolean>;

  /** Runs a command on a terminal. */
  openTerminal(id: string, spec: ExecSpec, size: TerminalSize): Promise<Terminal>;

  /**
   * Connects to a TCP port on which something in a running box listens, its loopback included. The box needs no
   * network for it, and no program inside.
   * Errors: not_found, failed_precondition (not running), nothing_listens, not_configured (see the finding `ports`).
   */
  dial(id: string, port: number): Promise<Connection>;

  /**
   * PID 1 of a running box as this host sees it, for what the kernel tells about it under /proc; undefined when it
   * is not of this host. Errors: not_found, failed_precondition (not running).
   */
  hostProcess(id: string): Promise<number | undefined>;

  /**
   * Keeps all files of a box as they are at one moment, running or stopped, under a name of their own: `create`
   * takes `snapshot:<snapshotId>` as an image. Processes stand still meanwhile and go on after it. What is mounted
   * into the box, /proc, /sys and /dev are not part of it. When it fails nothing of it is left. A loss of power
   * does not undo it, unless it is `passing`: for boxes that are made of it now, and then removed.
   * Errors: not_found, already_exists, disk_full, unavailable.
   */
  snapshot(id: string, snapshotId: string, options?: { readonly passing?: boolean }): Promise<SnapshotInfo>;

  /** Keeps an image as it is now under the name of a snapshot. Errors: as `prepareImage`, already_exists. */
  snapshotImage(image: string, snapshotId: string): Promise<SnapshotInfo>;

  /** Removes a snapshot; boxes that were made of it go on, and start again. A missing one is fine. */
  removeSnapshot(snapshotId: string): Promise<void>;

  /** The ids of all snapshots of this instance on this host. */
  listSnapshots(): Promise<string[]>;

  /**
   * Packs a stopped box into a file that is whole or not there: what is needed to make it again on this host,
   * also when snapshots that it stands on are removed. The box stays. Errors: not_found, failed_precondition
   * (it runs), disk_full, unavailable.
   */
  archive(id: string, file: string): Promise<{ readonly sizeBytes: number }>;

  /**
   * Makes the stopped box of an archive again. When it fails nothing of it is left.
   * Errors: already_exists, not_found (no such file), disk_full, unavailable.
   */
  unarchive(spec: BoxSpec, file: string): Promise<void>;

  /** Why boxes cannot have what is mounted on this host, for a person; undefined, as the method may be, when they can. */
  whyNoHostMounts?(): Promise<string | undefined>;

  /** Lets go of host resources that are only kept for speed (pools, connections). Boxes go on running. */
  close(): Promise<void>;
}

/** One finding about the host. */
export interface Finding {
  /** What was looked at: `runtime`, `overlay`, `cgroup`, `netns`, `nftables`, `seccomp`, `engine`... */
  readonly check: string;
  readonly status: 'ok' | 'degraded' | 'missing';
  /** What was found, for a person: version, path, or what is lost without it. */
  readonly message: string;
  /** Packages that bring it, by package manager. */
  readonly packages?: {
    readonly apt?: readonly string[];
    readonly dnf?: readonly string[];
    readonly apk?: readonly string[];
  };
  /** Commands that mend it, for root. */
  readonly commands?: readonly (readonly string[])[];
}

/** Whether a driver can work here, and how well. */
export interface Probe {
  /** False when sandboxes cannot be created at all. */
  readonly usable: boolean;
  readonly findings: readonly Finding[];
}

/** A step of getting an image. `total` is unknown (0) for some steps. */
export interface ImageProgress {
  readonly step: 'resolve' | 'download' | 'unpack';
  readonly done: number;
  readonly total: number;
}

/** An image that is here. */
export interface ImageInfo {
  /** The reference as it was given: `host`, `/path/to/image.tar`, `registry.example/name:tag`. */
  readonly reference: string;
  /** Digest or other exact identity. */
  readonly id: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workDir: string;
}

/** What a box may use. */
export interface Limits {
  /** Cores; 0.5 is half of one. */
  readonly cpu: number;
  readonly memoryMb: number;
  readonly pids: number;
}

/** What to make. Everything that a box needs to be started again is in here. */
export interface BoxSpec {
  /** The sandbox's id (`sbx_...`); the box bears it as its mark. */
  readonly id: string;
  readonly image: string;
  /** Added to the image's environment, for every command. */
  readonly env: Readonly<Record<string, string>>;
  /** Where commands start; the image's own, else /workspace, when absent. */
  readonly workDir?: string;
  readonly limits: Limits;
  /** Folders of the host that it has inside, for as long as it lives. */
  readonly mounts?: readonly BoxMount[];
  /** What it reaches outside. Never this host, other boxes or a cloud's credentials, whatever is allowed. */
  readonly network: NetworkPolicy;
}

/**
 * What a box reaches outside. `allow`: the internet and `allowCidrs`; `whitelist`: what `allowHosts` and
 * `allowCidrs` name; `deny`: `allowCidrs` alone. Networks of the host are reached only where `allowCidrs` names them.
 */
export interface NetworkPolicy {
  readonly mode: 'allow' | 'whitelist' | 'deny';
  /** IPv4 blocks, `203.0.113.0/24`. */
  readonly allowCidrs: readonly string[];
  /** Names, `*.example.com` for all below one, or `@registries`. Lower case. */
  readonly allowHosts: readonly string[];
}

/** A name that a box looked up. */
export interface Lookup {
  /** Unix milliseconds. */
  readonly at: number;
  readonly name: string;
  /** `A`, `AAAA`, `TXT`... */
  readonly type: string;
  /** `failed`: allowed, but nobody answered. */
  readonly verdict: 'allowed' | 'denied' | 'failed';
  /** The IPv4 addresses that it was told. */
  readonly addresses: readonly string[];
}

/** A folder of the host in a box. Several boxes may have the same one at once. */
export interface BoxMount {
  /** The folder on the host. It is made to belong to the box's user while it belongs to the daemon's. */
  readonly source: string;
  /** A folder below the source that is mounted in its place; it is made, and no link on the way is followed. */
  readonly subpath?: string;
  /** Where it is in the box: see `badTarget`. */
  readonly target: string;
  readonly readOnly?: boolean;
  /**
   * The source is a mount that a program on this host serves, with owners as they are to be: it may not answer, so
   * it is taken without being looked at. It has no subpath.
   */
  readonly served?: boolean;
}

/** A snapshot that was made. */
export interface SnapshotInfo {
  /** Bytes on the disk that are its own; 0 for one that is passing, where nobody asks. */
  readonly sizeBytes: number;
  /** What it stands on: the image that the box, or the box of the snapshot below it, was made of. */
  readonly image: ImageInfo;
}

/** A box that runs. */
export interface Box {
  readonly id: string;
  /** The backend's own name for it: container id. */
  readonly containerId: string;
  readonly image: ImageInfo;
}

/** A box as the host knows it. */
export interface BoxState {
  readonly id: string;
  readonly containerId: string;
  readonly state: 'running' | 'stopped' | 'missing';
}

/** Point-in-time figures, in bytes and counts since the box started. */
export interface BoxStats {
  /** CPU time used, in microseconds since start; the caller makes a percentage of two readings. */
  readonly cpuUsageUs: number;
  readonly memoryBytes: number;
  readonly memoryLimitBytes: number;
  readonly networkRxBytes: number;
  readonly networkTxBytes: number;
  readonly blockReadBytes: number;
  readonly blockWriteBytes: number;
  readonly pids: number;
}

/** A command to run in a box. */
export interface ExecSpec {
  /** Unique in the box (`cmd_...`). */
  readonly id: string;
  readonly argv: readonly [string, ...string[]];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The box's own user (1000, HOME /home/svc) when absent; 0 is root inside the box only. */
  readonly uid?: number;
  readonly gid?: number;
  /** Keeps stdin open for `write`; otherwise stdin is /dev/null. */
  readonly stdin?: boolean;
}

/** How a command ended. Exactly one of code and signal says it; code is 128 + signal number then. */
export interface Exit {
  readonly code: number;
  /** The signal's name (`SIGKILL`) when one ended it. */
  readonly signal?: string;
  /** The command was not ended by itself: the kernel took it for memory. */
  readonly outOfMemory?: boolean;
  /** The command could not be started at all (no such program, bad cwd): the reason. code is 126 or 127. */
  readonly startError?: string;
}

/** Output of a command, in the order it was read. */
export interface OutputChunk {
  readonly channel: 'stdout' | 'stderr';
  readonly bytes: Uint8Array;
}

/** A command that belongs to its caller. */
export interface Execution {
  /** Its output; ends when both pipes are closed. Reading it slowly slows the command down. */
  readonly output: AsyncIterable<OutputChunk>;
  /** How it ended; from wait() only, never guessed. */
  readonly exited: Promise<Exit>;
  /** Sends bytes to stdin; resolves when they were taken. */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): Promise<void>;
  /** Signals the command and all its descendants, also those that left its session. SIGKILL leaves none. */
  kill(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP'): Promise<void>;
}

/** A command that belongs to its box. */
export interface Detached {
  /** Finds it again after a restart. */
  readonly ref: string;
  readonly exited: Promise<Exit>;
  kill(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP'): Promise<void>;
}

/** Columns and rows of a terminal. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** A connection to a port of a box: a byte stream with backpressure; `end()` is a half close. */
export type Connection = Duplex;

/** A command on a terminal. */
export interface Terminal {
  readonly output: AsyncIterable<Uint8Array>;
  readonly exited: Promise<Exit>;
  write(bytes: Uint8Array): Promise<void>;
  resize(size: TerminalSize): void;
  kill(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP'): Promise<void>;
}
