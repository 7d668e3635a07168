/** The calling process with all its threads (getrusage(2)). */
export const RUSAGE_SELF = 0;
/** Size of struct rusage, and where it says how many blocks of 512 bytes were read from disks. */
export const RUSAGE_SIZE = 144;
const IN_BLOCKS_AT = 88;
const DISK_BLOCK = 512;
/** So much is looked at before anything is concluded of it, and so much is always read through the cache. */
const WINDOW = 4 * 1024 * 1024;
const CACHED_FIRST = 16 * 1024 * 1024;

/** How many blocks a process has had from disks, from its struct rusage. */
export function blocksRead(rusage: Uint8Array): number {
  const view = new DataView(rusage.buffer, rusage.byteOffset, rusage.byteLength);
  return Number(view.getBigUint64(IN_BLOCKS_AT, true));
}

/**
 * Watches a file being read: whether it comes from the disk or from the page cache. What others have their process read
 * meanwhile counts too, so this only ever decides on a way, never on bytes.
 */
export class Reads {
  private total = 0;
  private inWindow = 0;
  private windowBegan: number | undefined;
  private isFromDisk = false;

  /** Whether most of what came last was on the disk only. */
  get isCold(): boolean {
    return this.isFromDisk;
  }

  /** Notes a read through the cache. @param blocks what the process has had from disks by now */
  saw(bytes: number, blocks: number): void {
    this.total += bytes;
    this.inWindow += bytes;
    this.windowBegan ??= blocks;
    if (this.inWindow < WINDOW) return;
    const fromDisk = (blocks - this.windowBegan) * DISK_BLOCK;
    this.isFromDisk = this.total >= CACHED_FIRST && fromDisk > this.inWindow / 2;
    this.windowBegan = blocks;
    this.inWindow = 0;
  }
}
