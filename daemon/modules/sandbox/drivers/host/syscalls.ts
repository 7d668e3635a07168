import { dlopen, ptr, read as readMemory } from 'bun:ffi';

const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const OPEN_TREE_CLONE = 1;
const O_CLOEXEC = 0o2000000;
const MOVE_MOUNT_F_EMPTY_PATH = 4;
const S_IFCHR = 0o020000;
const S_IFIFO = 0o010000;
const MOUNT_ATTR_RDONLY = 0x1n;
const MOUNT_ATTR_NOSUID = 0x2n;
const MOUNT_ATTR_NODEV = 0x4n;
const MOUNT_ATTR_IDMAP = 0x100000n;
const MOUNT_ATTR_SIZE = 32;
const TIOCSWINSZ = 0x5414;
const TIOCSPTLCK = 0x40045431;
const TIOCGPTN = 0x80045430;
const CLONE_NEWNET = 0x40000000;
const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0o4000;
const ENODATA = 61;
const EOPNOTSUPP = 95;
const EISCONN = 106;
const EINPROGRESS = 115;
const EALREADY = 114;

/** Numbers of the calls that older libcs do not wrap; calls from 424 on have one number everywhere. */
const NUMBERS = {
  openTree: 428,
  moveMount: 429,
  mountSetattr: 442,
  ...(process.arch === 'arm64'
    ? { mknodat: 33, lsetxattr: 6, lgetxattr: 9, ioctl: 29, pipe2: 59, setns: 268, socket: 198, connect: 203 }
    : {
        mknodat: 259,
        lsetxattr: 189,
        lgetxattr: 192,
        ioctl: 16,
        pipe2: 293,
        setns: 308,
        socket: 41,
        connect: 42,
      }),
};

/** A system call that failed, with its errno. */
export class SyscallError extends Error {
  constructor(
    readonly call: string,
    readonly errno: number,
  ) {
    super(`${call} failed with errno ${errno}`);
    this.name = 'SyscallError';
  }
}

type Argument = number | bigint | Uint8Array | BigUint64Array | Int32Array;

let library: ReturnType<typeof open> | undefined;

function open() {
  const path = process.arch === 'arm64' ? 'libc.musl-aarch64.so.1' : 'libc.musl-x86_64.so.1';
  const symbols = {
    syscall: { args: ['i64', 'i64', 'i64', 'i64', 'i64', 'i64'], returns: 'i64' },
    __errno_location: { args: [], returns: 'ptr' },
  } as const;
  try {
    return dlopen('libc.so.6', symbols).symbols;
  } catch {
    return dlopen(path, symbols).symbols;
  }
}

function call(name: keyof typeof NUMBERS, ...given: Argument[]): number {
  library ??= open();
  const raw = given.map((value) => (typeof value === 'object' ? ptr(value) : value));
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = raw;
  const result = Number(library.syscall(NUMBERS[name], a, b, c, d, e));
  if (result >= 0) return result;
  const errno = library.__errno_location();
  throw new SyscallError(name, errno === null ? 0 : readMemory.i32(errno));
}

const text = (value: string): Uint8Array => new TextEncoder().encode(`${value}\0`);

/**
 * Attaches a copy of the mount at `source` (without what is mounted below it) at `target`: read-only, without
 * devices and set-id, its owners shifted by the user namespace behind `userNamespaceFd`. Linux 5.12 and later.
 * Errors: SyscallError.
 */
export function mountShifted(
  source: string,
  target: string,
  userNamespaceFd: number,
  close: (fd: number) => void,
): void {
  const tree = call('openTree', AT_FDCWD, text(source), OPEN_TREE_CLONE | O_CLOEXEC);
  try {
    const flags = MOUNT_ATTR_IDMAP | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    const attributes = new BigUint64Array([flags, 0n, 0n, BigInt(userNamespaceFd)]);
    call('mountSetattr', tree, text(''), AT_EMPTY_PATH, attributes, MOUNT_ATTR_SIZE);
    call('moveMount', tree, text(''), AT_FDCWD, text(target), MOVE_MOUNT_F_EMPTY_PATH);
  } finally {
    close(tree);
  }
}

/**
 * Attaches the folder behind a descriptor (without what is mounted below it) at `target`: without devices and
 * set-id. No name is looked up on the way to the folder. Errors: SyscallError.
 */
export function mountFolder(
  fd: number,
  target: string,
  { readOnly, close }: { readonly readOnly: boolean; readonly close: (fd: number) => void },
): void {
  const tree = call('openTree', fd, text(''), OPEN_TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH);
  try {
    const flags = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (readOnly ? MOUNT_ATTR_RDONLY : 0n);
    const attributes = new BigUint64Array([flags, 0n, 0n, 0n]);
    call('mountSetattr', tree, text(''), AT_EMPTY_PATH, attributes, MOUNT_ATTR_SIZE);
    call('moveMount', tree, text(''), AT_FDCWD, text(target), MOVE_MOUNT_F_EMPTY_PATH);
  } finally {
    close(tree);
  }
}

/** Marks `path`, which must not exist, as deleted for overlayfs: a character device 0:0. Errors: SyscallError. */
export function makeWhiteout(path: string): void {
  call('mknodat', AT_FDCWD, text(path), S_IFCHR, 0);
}

/** Makes a named pipe that only its owner may open. Errors: SyscallError. */
export function makeFifo(path: string): void {
  call('mknodat', AT_FDCWD, text(path), S_IFIFO | 0o600, 0);
}

/** Makes a directory hide what the layers below have in it. A path may be bytes, as names need not be text. Errors: SyscallError. */
export function makeOpaque(path: string | Uint8Array): void {
  const bytes = typeof path === 'string' ? text(path) : terminated(path);
  call('lsetxattr', bytes, text('trusted.overlay.opaque'), new TextEncoder().encode('y'), 1, 0);
}

/** Whether a directory hides what the layers below have in it. Errors: SyscallError. */
export function isOpaque(path: Uint8Array): boolean {
  const value = new Uint8Array(8);
  try {
    const size = call('lgetxattr', terminated(path), text('trusted.overlay.opaque'), value, value.length);
    return size === 1 && value[0] === 'y'.charCodeAt(0);
  } catch (error) {
    if (error instanceof SyscallError && (error.errno === ENODATA || error.errno === EOPNOTSUPP))
      return false;
    throw error;
  }
}

function terminated(path: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(path.length + 1);
  bytes.set(path);
  return bytes;
}

/** Lets the other end of a pseudo terminal be opened and gives its number. Errors: SyscallError. */
export function unlockTerminal(master: number): number {
  const number = new Int32Array(1);
  call('ioctl', master, TIOCSPTLCK, number);
  call('ioctl', master, TIOCGPTN, number);
  return number[0] ?? -1;
}

/** Sets the size of a pseudo terminal and tells the programs on it. Errors: SyscallError. */
export function resizeTerminal(master: number, size: { readonly rows: number; readonly cols: number }): void {
  call('ioctl', master, TIOCSWINSZ, new Uint8Array(new Uint16Array([size.rows, size.cols, 0, 0]).buffer));
}

/** The two ends of a pipe, as descriptors. */
export interface Pipe {
  readonly read: number;
  readonly write: number;
}

/**
 * A pipe: its read end and its write end, both closed in programs that do not ask for them. Programs can open a
 * pipe again as /dev/stdout; the sockets that a runtime's own pipes are made of, they cannot. Errors: SyscallError.
 */
export function makePipe(): Pipe {
  const ends = new Int32Array(2);
  call('pipe2', ends, O_CLOEXEC);
  const [read = -1, write = -1] = ends;
  return { read, write };
}

/** Moves this thread, and no other, into the network namespace behind a descriptor (setns(2)). Errors: SyscallError. */
export function enterNetwork(namespaceFd: number): void {
  call('setns', namespaceFd, CLONE_NEWNET);
}

/**
 * A TCP socket of another network (setns(2)); its calls never wait. A socket keeps the network that it was made in, and a
 * thread's network is its own: this thread goes in, makes it and comes back. Both networks are open descriptors.
 * Errors: SyscallError; when there is no way back the program is aborted, for it would take the other network for its own.
 */
export function makeSocketInNetwork(there: number, home: number, family: 4 | 6): number {
  library ??= open();
  const { syscall } = library;
  const domain = family === 4 ? AF_INET : AF_INET6;
  const type = SOCK_STREAM | SOCK_NONBLOCK | O_CLOEXEC;
  // Nothing else may happen between going in and coming back: a thread that starts here would stay in there.
  const entered = Number(syscall(NUMBERS.setns, there, CLONE_NEWNET, 0, 0, 0)) === 0;
  const socket = entered ? Number(syscall(NUMBERS.socket, domain, type, 0, 0, 0)) : -1;
  const isBack = !entered || Number(syscall(NUMBERS.setns, home, CLONE_NEWNET, 0, 0, 0)) === 0;
  if (!isBack) {
    process.stderr.write('svc cannot leave the network of a sandbox, and aborts\n');
    process.abort();
  }
  if (socket >= 0) return socket;
  const errno = library.__errno_location();
  throw new SyscallError(entered ? 'socket' : 'setns', errno === null ? 0 : readMemory.i32(errno));
}

/** An address with its port, as connect(2) takes them: 4 octets, or 16. */
export interface SocketAddress {
  readonly octets: Uint8Array;
  readonly port: number;
}

/**
 * Connects a socket, or asks again how that goes: `false` while it is under way. Errors: SyscallError when it
 * was refused or there is no way.
 */
export function connectSocket(fd: number, address: SocketAddress): boolean {
  const bytes = socketAddress(address);
  try {
    call('connect', fd, bytes, bytes.length);
    return true;
  } catch (error) {
    const errno = error instanceof SyscallError ? error.errno : 0;
    if (errno === EISCONN) return true;
    if (errno === EINPROGRESS || errno === EALREADY) return false;
    throw error;
  }
}

/** A sockaddr_in (ip(7)) or sockaddr_in6 (ipv6(7)): the family in the order of this machine, the port in that of the network. */
function socketAddress({ octets, port }: SocketAddress): Uint8Array {
  const isV4 = octets.length === 4;
  const bytes = new Uint8Array(isV4 ? 16 : 28);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, isV4 ? AF_INET : AF_INET6, true);
  view.setUint16(2, port);
  bytes.set(octets, isV4 ? 4 : 8);
  return bytes;
}
