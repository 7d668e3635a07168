import { createHash } from 'node:crypto';
import type { Clock } from '../../../../src/kit/time.ts';
import type { SettingStore } from '../../../db/settings.ts';
import type { Log } from '../../../log/log.ts';
import type { OwnProviders } from '../own-providers.ts';
import type { ProviderStore } from '../store.ts';
import { renderDocument } from './document.ts';
import type { PrivateFile } from './file.ts';

const STATE = 'providers.file';

const HEADING = `# The providers of this instance, written by svc after every change. Keys are masked.
# After an edit: svc provider reload. A key that stands here in the open is sealed and masked by that.
# api_key: env:NAME takes a key from a variable of the environment.
`;

/** What was in the file and in the database when they last agreed. */
interface Agreed {
  readonly file: string;
  readonly rows: string;
  /** Unix time in milliseconds. */
  readonly at: number;
}

/** How the file stands to the database. */
export interface SyncStatus {
  readonly inSync: boolean;
  /** Unix time in milliseconds. */
  readonly modifiedAt: number | undefined;
  readonly syncedAt: number | undefined;
}

/** What the file is kept with. */
export interface FileSyncParts {
  readonly file: PrivateFile;
  readonly settings: SettingStore;
  readonly store: ProviderStore;
  readonly own: OwnProviders;
  readonly clock: Clock;
  readonly log: Log;
  readonly tenant: string;
}

/**
 * Keeps providers.yaml beside the rows of one tenant. The rows are the truth: the file follows every change of them,
 * except that one which was edited by hand is left as it is until somebody has it read.
 */
export class FileSync {
  constructor(private readonly parts: FileSyncParts) {}

  /** Makes up for a change that was cut off before the file was written, and says when a file waits to be read. */
  start(): void {
    const { log, file } = this.parts;
    if (this.isEdited())
      log.warn('providers.yaml is not in force as it is now; see: svc provider reload', { path: file.path });
    else this.follow();
  }

  /** Writes the file, when that is needed and nobody has edited it. Answers whether it agrees with the rows then. */
  follow(): boolean {
    const rows = this.rendered();
    const isNeeded = this.parts.own.of(this.parts.tenant).providers.length > 0 || this.agreed() !== undefined;
    if (!isNeeded) return false;
    if (this.isEdited()) return false;
    if (this.agreed()?.rows === hash(rows) && this.parts.file.read() !== undefined) return true;
    return this.overwrite();
  }

  /** Writes the file whatever is in it. */
  overwrite(): boolean {
    const text = HEADING + this.rendered();
    try {
      this.parts.file.write(text);
    } catch (error) {
      this.parts.log.error('providers.yaml cannot be written', { error });
      return false;
    }
    this.agree(text);
    return true;
  }

  /** Takes the file as it is for what the rows say. */
  agree(text: string): void {
    const { settings, store, own, clock, tenant } = this.parts;
    const at = clock.now();
    settings.set(STATE, { file: hash(text), rows: hash(this.rendered()), at } satisfies Agreed, at);
    store.markSynced(tenant, at);
    own.load(tenant);
  }

  status(): SyncStatus {
    const agreed = this.agreed();
    const text = this.parts.file.read();
    const isEmpty = this.parts.own.of(this.parts.tenant).providers.length === 0;
    const inSync =
      text === undefined
        ? isEmpty && agreed === undefined
        : agreed?.file === hash(text) && agreed.rows === hash(this.rendered());
    return { inSync, modifiedAt: this.parts.file.modifiedAt(), syncedAt: agreed?.at };
  }

  private isEdited(): boolean {
    const text = this.parts.file.read();
    return text !== undefined && hash(text) !== this.agreed()?.file;
  }

  private rendered(): string {
    return renderDocument(this.parts.own.of(this.parts.tenant).providers);
  }

  private agreed(): Agreed | undefined {
    return this.parts.settings.get(STATE) as Agreed | undefined;
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
