/** System calls by architecture (the kernel's tables: asm/unistd_64.h, asm-generic/unistd.h). */
const NUMBERS = {
  x64: {
    close: 3,
    write: 1,
    lseek: 8,
    pread: 17,
    pwrite: 18,
    fcntl: 72,
    fsync: 74,
    ftruncate: 77,
    truncate: 76,
    fchmod: 91,
    fchown: 93,
    umask: 95,
    getrusage: 98,
    prctl: 157,
    getdents: 217,
    openat: 257,
    mkdirat: 258,
    fchownat: 260,
    unlinkat: 263,
    linkat: 265,
    symlinkat: 266,
    readlinkat: 267,
    fchmodat: 268,
    utimensat: 280,
    dup3: 292,
    renameat2: 316,
    statx: 332,
  },
  arm64: {
    close: 57,
    write: 64,
    lseek: 62,
    pread: 67,
    pwrite: 68,
    fcntl: 25,
    fsync: 82,
    ftruncate: 46,
    truncate: 45,
    fchmod: 52,
    fchown: 55,
    umask: 166,
    getrusage: 165,
    prctl: 167,
    getdents: 61,
    openat: 56,
    mkdirat: 34,
    fchownat: 54,
    unlinkat: 35,
    linkat: 37,
    symlinkat: 36,
    readlinkat: 78,
    fchmodat: 53,
    utimensat: 88,
    dup3: 24,
    renameat2: 276,
    statx: 291,
  },
} as const;

/** A system call that is made in boxes. */
export type CallName = keyof (typeof NUMBERS)['x64'];

/** A box runs programs of this machine's architecture: its image was chosen for it. */
const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';

/** The number of a system call in a box. */
export function callNumber(name: CallName): number {
  return NUMBERS[architecture][name];
}

const arm = architecture === 'arm64';

/** Flags of open(2), which differ between architectures. */
export const O = {
  WRITE: 0o1,
  READ_WRITE: 0o2,
  CREATE: 0o100,
  EXCLUSIVE: 0o200,
  TRUNCATE: 0o1000,
  APPEND: 0o2000,
  NONBLOCK: 0o4000,
  /** Past the page cache. */
  DIRECT: arm ? 0o200000 : 0o40000,
  DIRECTORY: arm ? 0o40000 : 0o200000,
  NOFOLLOW: arm ? 0o100000 : 0o400000,
  CLOEXEC: 0o2000000,
  PATH: 0o10000000,
} as const;

/** Paths that do not begin with a slash count from here; absolute ones do not mind. */
export const AT_FDCWD = -100;
export const AT_SYMLINK_NOFOLLOW = 0x100;
export const AT_REMOVEDIR = 0x200;
export const AT_EMPTY_PATH = 0x1000;
/** renameat2(2): fails when the target exists. */
export const RENAME_NOREPLACE = 1;

/** fcntl(2): the flags of an open file. */
export const F_SETFL = 4;
