import { constants } from 'node:fs';
import { chmod, link, mkdir, open, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, fail } from '../../../../../src/errors/app-error.ts';
import type { ImageInfo, NetworkPolicy } from '../driver.ts';
import { callProgram } from '../programs/call-program.ts';

/** What must be known of a box besides what the engine keeps, as these things may change between starts. */
export interface BoxRecord {
  readonly image: ImageInfo;
  readonly env: Readonly<Record<string, string>>;
  readonly workDir: string;
  /** What it reaches; a box of an older version does not say. */
  readonly network?: NetworkPolicy;
}

const PRIVATE_DIR = 0o700;
const PRIVATE_FILE = 0o600;
const PROGRAM_FILE = 0o755;
/** Any user of the box may put a file there; none may list it or take another's file away. */
const EXCHANGE_DIR = 0o1733;
/** A log that any user of the box may append to and none may read. The folders above it are private. */
const SHARED_LOG = 0o622;
const NOTE_BYTES = 1024;
const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * The folder of a box on the host: `box.json`, and `exchange/`, which is mounted into the box. Everything
 * below `exchange/` is in the box's hands: names there are opened without following links and may lie.
 */
export class BoxFolder {
  readonly exchange: string;
  /** The call program, which is mounted into the box to be read alone. */
  readonly callProgram: string;
  private readonly dir: string;

  constructor(dataDir: string, id: string) {
    this.dir = join(dataDir, 'docker', 'boxes', id);
    this.exchange = join(this.dir, 'exchange');
    this.callProgram = join(this.dir, 'call');
  }

  /** Makes the folder, or brings it up to date. */
  async write(record: BoxRecord): Promise<void> {
    await mkdir(this.dir, { recursive: true, mode: PRIVATE_DIR });
    await mkdir(this.exchange, { recursive: true });
    await chmod(this.exchange, EXCHANGE_DIR);
    await this.writeCallProgram();
    const part = join(this.dir, `box.json.${crypto.randomUUID()}`);
    await writeFile(part, JSON.stringify(record), { mode: PRIVATE_FILE });
    await rename(part, join(this.dir, 'box.json'));
  }

  /** Written once: what is mounted is this very file. */
  private async writeCallProgram(): Promise<void> {
    const file = await open(this.callProgram, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, PROGRAM_FILE).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      },
    );
    try {
      await file?.chmod(PROGRAM_FILE);
      await file?.writeFile(callProgram());
    } finally {
      await file?.close();
    }
  }

  /** Undefined when there is no such folder. */
  async read(): Promise<BoxRecord | undefined> {
    const text = await readFile(join(this.dir, 'box.json'), 'utf8').catch(() => undefined);
    return text === undefined ? undefined : (JSON.parse(text) as BoxRecord);
  }

  async remove(): Promise<void> {
    await chmod(this.exchange, PRIVATE_DIR).catch(() => {});
    await rm(this.dir, { recursive: true, force: true });
  }

  /**
   * Gives the box a second name of the log. The box can append to the file and take its own name of it away;
   * `logPath` stays what it is. Errors: failed_precondition (another file system, no file that can be
   * written), disk_full.
   */
  async shareLog(commandId: string, logPath: string): Promise<void> {
    try {
      await this.linkLog(commandId, logPath);
    } catch (error) {
      throw logFault(error, logPath, this.dir);
    }
  }

  private async linkLog(commandId: string, logPath: string): Promise<void> {
    const file = await open(logPath, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, PRIVATE_FILE);
    try {
      if (!(await file.stat()).isFile())
        throw fail('failed_precondition', { message: `${logPath} is no regular file.` });
      await file.chmod(SHARED_LOG);
      await this.unshareLog(commandId);
      await link(logPath, this.path(commandId, 'log'));
    } finally {
      await file.close();
    }
  }

  /** Takes the box's name of the log away; processes that have it open keep it. */
  async unshareLog(commandId: string): Promise<void> {
    await unlink(this.path(commandId, 'log')).catch(() => {});
  }

  /** Why a command could not start, in the words of its launcher; undefined when it did. */
  async takeComplaint(commandId: string): Promise<string | undefined> {
    const text = await this.readNote(commandId, 'error');
    if (text !== undefined) await unlink(this.path(commandId, 'error')).catch(() => {});
    return text;
  }

  /** The exit code that a detached command left; undefined when it left none. */
  async exitCode(commandId: string): Promise<number | undefined> {
    const text = (await this.readNote(commandId, 'exit')) ?? '';
    return /^\d{1,3}$/.test(text) && Number(text) <= 255 ? Number(text) : undefined;
  }

  private path(commandId: string, kind: NoteKind): string {
    return join(this.exchange, noteName(commandId, kind));
  }

  private async readNote(commandId: string, kind: NoteKind): Promise<string | undefined> {
    const file = await open(this.path(commandId, kind), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(absent);
    try {
      if (!file || !(await file.stat()).isFile()) return undefined;
      const { buffer, bytesRead } = await file.read(new Uint8Array(NOTE_BYTES), 0, NOTE_BYTES, 0);
      return new TextDecoder().decode(buffer.subarray(0, bytesRead));
    } catch {
      return undefined;
    } finally {
      await file?.close();
    }
  }
}

function absent(): undefined {
  return undefined;
}

function logFault(error: unknown, logPath: string, dir: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof AppError || !code) return error;
  if (code === 'ENOSPC') return fail('disk_full', { message: `The disk of ${logPath} is full.` });
  const why = code === 'EXDEV' ? `it is on another file system than ${dir}` : code;
  return fail('failed_precondition', { message: `The log ${logPath} cannot be used: ${why}.` });
}

type NoteKind = 'log' | 'error' | 'exit';

/** The name of a command's file in the exchange folder, the same inside and outside. */
export function noteName(commandId: string, kind: NoteKind): string {
  return `${commandId}.${kind}`;
}
