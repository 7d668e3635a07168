import { chmodSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';

/** A text on disk, for the owner alone. */
export class PrivateFile {
  constructor(readonly path: string) {}

  /** What is in it; undefined when it does not exist. */
  read(): string | undefined {
    return existsSync(this.path) ? readFileSync(this.path, 'utf8') : undefined;
  }

  /** When it was last written, Unix time in milliseconds; undefined when it does not exist. */
  modifiedAt(): number | undefined {
    return existsSync(this.path) ? Math.trunc(statSync(this.path).mtimeMs) : undefined;
  }

  /** Replaces it as a whole: a reader sees the old text or the new one. */
  write(text: string): void {
    const temporary = `${this.path}.new`;
    writeFileSync(temporary, text, { mode: 0o600 });
    chmodSync(temporary, 0o600);
    renameSync(temporary, this.path);
  }
}
