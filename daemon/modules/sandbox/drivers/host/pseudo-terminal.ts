import { chownSync, closeSync, constants, fstatSync, openSync } from 'node:fs';
import type { TerminalSize } from '../driver.ts';
import { resizeTerminal, unlockTerminal } from './syscalls.ts';

/** A pseudo terminal of a box. */
export interface PseudoTerminal {
  /** The daemon's end, a descriptor that does not block. */
  readonly master: number;
  /** The other end, as a path inside. */
  readonly path: string;
}

/** The group that terminals belong to, inside. */
const TTY_GROUP = 5;
/** Device 5:2, the one that makes pseudo terminals. */
const PTMX_DEVICE = 0x502;
const O_CLOEXEC = 0o2000000;

/**
 * Makes a pseudo terminal in the box of a process, of this size, for a user of it (ids of the host). What it goes
 * through are mounts of the box, which nobody inside can replace; that it got the device is checked all the same.
 * Errors: those of open(2), SyscallError.
 */
export function openPseudoTerminal(
  initPid: number,
  uid: number,
  base: number,
  size: TerminalSize,
): PseudoTerminal {
  const folder = `/proc/${initPid}/root/dev/pts`;
  const flags =
    constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK | constants.O_NOFOLLOW | O_CLOEXEC;
  const master = openSync(`${folder}/ptmx`, flags);
  try {
    if (fstatSync(master).rdev !== PTMX_DEVICE) throw new Error('the box has no terminals');
    const number = unlockTerminal(master);
    chownSync(`${folder}/${number}`, uid, base + TTY_GROUP);
    resizeTerminal(master, size);
    return { master, path: `/dev/pts/${number}` };
  } catch (error) {
    closeSync(master);
    throw error;
  }
}
