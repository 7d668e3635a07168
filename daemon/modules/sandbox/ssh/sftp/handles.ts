import type { BoxFile, DirectoryEntry } from '../../files/box-files.ts';

/** A file that is open for a peer. */
export interface OpenFile {
  readonly kind: 'file';
  readonly file: BoxFile;
}

/** A directory that is being read. */
export interface OpenDirectory {
  readonly kind: 'directory';
  readonly path: string;
  readonly batches: AsyncIterator<readonly DirectoryEntry[]>;
  /** Names that were read and not sent yet. */
  waiting: readonly DirectoryEntry[];
}

/** What a handle stands for. */
export type Opened = OpenFile | OpenDirectory;

/** Handles of one SFTP session that may be open at once. */
export const MOST_HANDLES = 256;

/** The open files and directories of one session. */
export class Handles {
  private readonly opened = new Map<string, Opened>();
  private next = 0;

  get isFull(): boolean {
    return this.opened.size >= MOST_HANDLES;
  }

  /** A handle for something that was opened. */
  add(opened: Opened): Uint8Array {
    const name = String(this.next++);
    this.opened.set(name, opened);
    return new TextEncoder().encode(name);
  }

  find(handle: Uint8Array): Opened | undefined {
    return this.opened.get(nameOf(handle));
  }

  /** Lets go of a handle; false when there is none. Errors: those of closing the file. */
  async close(handle: Uint8Array): Promise<boolean> {
    const name = nameOf(handle);
    const opened = this.opened.get(name);
    this.opened.delete(name);
    await (opened?.kind === 'file' ? opened.file.close() : opened?.batches.return?.());
    return opened !== undefined;
  }

  async closeAll(): Promise<void> {
    const names = [...this.opened.keys()].map((name) => new TextEncoder().encode(name));
    await Promise.allSettled(names.map((name) => this.close(name)));
  }
}

function nameOf(handle: Uint8Array): string {
  return Buffer.from(handle).toString('latin1');
}
