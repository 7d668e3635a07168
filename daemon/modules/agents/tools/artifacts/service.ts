import { fail } from '../../../../../src/errors/app-error.ts';
import { formatBytes, MIB } from '../../../../../src/kit/bytes.ts';
import { newId } from '../../../../../src/kit/id.ts';
import { type Clock, DAY_MS } from '../../../../../src/kit/time.ts';
import type { Database } from '../../../../db/open.ts';
import { type ArtifactStore, PART_BYTES } from './store.ts';
import type { ArtifactRow } from './tables.ts';

/** What an artifact belongs to. */
export interface Owner {
  readonly tenant: string;
  readonly sessionId: string;
  /** The call that it comes from. */
  readonly callId: string;
}

/** The most of each that sessions keep. */
export const ARTIFACT_LIMITS = {
  /** Bytes of one. */
  each: 16 * MIB,
  /** Bytes of a session. */
  session: 64 * MIB,
  /** Artifacts of a session. */
  count: 200,
  keptMs: 30 * DAY_MS,
} as const;

/** Keeps what sessions have beside their conversation, within bounds. */
export class ArtifactService {
  constructor(
    private readonly db: Database,
    private readonly store: ArtifactStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Keeps the whole of a result that is too long for a model, in the caller's transaction where there is one. The oldest results
   * make room for it. A call keeps one: asked again, it answers the same id. Undefined: it is too large.
   */
  keepResult(owner: Owner, whole: string): string | undefined {
    const bytes = Buffer.from(whole);
    if (bytes.length > ARTIFACT_LIMITS.each) return undefined;
    return this.db.transaction(() => {
      const known = this.store.ofCall(owner.tenant, owner.sessionId, owner.callId);
      if (known?.complete) return known.id;
      if (!this.makeRoom(owner, bytes.length)) return undefined;
      const row = this.newRow(owner, 'result', 'result.txt', 'text/plain; charset=utf-8');
      this.store.insert({ ...row, size: bytes.length, complete: true });
      for (let at = 0; at < bytes.length; at += PART_BYTES)
        this.store.addPart(row.id, at, bytes.subarray(at, at + PART_BYTES));
      return row.id;
    });
  }

  /**
   * Keeps a file. Nobody sees it before it is whole; of one that fails nothing is left.
   * Errors: resource_exhausted when it is too large or the session is full, and those of its bytes.
   */
  async upload(
    owner: Owner,
    name: string,
    mediaType: string,
    content: AsyncIterable<Uint8Array>,
  ): Promise<ArtifactRow> {
    const earlier = this.store.ofCall(owner.tenant, owner.sessionId, owner.callId);
    if (earlier?.complete) return earlier;
    if (earlier) this.store.remove(owner.tenant, earlier.id);
    const row = this.newRow(owner, 'upload', name, mediaType);
    this.store.insert(row);
    try {
      const size = await this.receive(row, content);
      this.db.transaction(() => {
        if (!this.makeRoom(owner, size, row.id)) throw full();
        this.store.complete(owner.tenant, row.id, size);
      });
      return { ...row, size, complete: true };
    } catch (error) {
      this.store.remove(owner.tenant, row.id);
      throw error;
    }
  }

  /** Errors: not_found. */
  get(tenant: string, sessionId: string, id: string): ArtifactRow {
    const row = this.store.find(tenant, sessionId, id);
    if (!row) throw fail('not_found', { what: 'artifact', id });
    return row;
  }

  /** Newest first. */
  list(tenant: string, sessionId: string): ArtifactRow[] {
    return this.store.list(tenant, sessionId);
  }

  /** The bytes of an artifact from a place on, some at a time. It ends early when the artifact is pruned meanwhile. */
  *read({ id, size }: ArtifactRow, offset = 0): Generator<Uint8Array> {
    for (let at = offset; at < size; ) {
      const part = this.store.part(id, at);
      if (!part) return;
      yield part.bytes.subarray(at - part.start);
      at = part.start + part.bytes.length;
    }
  }

  /** Forgets what is old, in steps. */
  async prune(): Promise<void> {
    const before = this.clock.now() - ARTIFACT_LIMITS.keptMs;
    while (this.store.prune(before)) await Bun.sleep(1);
  }

  private async receive({ id }: ArtifactRow, content: AsyncIterable<Uint8Array>): Promise<number> {
    let size = 0;
    for await (const bytes of partsOf(content)) {
      if (size + bytes.length > ARTIFACT_LIMITS.each)
        throw fail('resource_exhausted', {
          message: `An artifact may have at most ${formatBytes(ARTIFACT_LIMITS.each)}.`,
        });
      this.store.addPart(id, size, bytes);
      size += bytes.length;
    }
    return size;
  }

  /** Removes the oldest results until there is room for so many bytes more; false when that is not enough. */
  private makeRoom({ tenant, sessionId }: Owner, bytes: number, but?: string): boolean {
    const rows = this.store.all(tenant, sessionId).filter(({ id }) => id !== but);
    let [count, total] = [rows.length, rows.reduce((sum, { size }) => sum + size, 0)];
    const isFull = () => count >= ARTIFACT_LIMITS.count || total + bytes > ARTIFACT_LIMITS.session;
    const gone: string[] = [];
    for (const { id, size, kind } of rows) {
      if (!isFull()) break;
      if (kind !== 'result') continue;
      gone.push(id);
      [count, total] = [count - 1, total - size];
    }
    if (isFull()) return false;
    for (const id of gone) this.store.remove(tenant, id);
    return true;
  }

  private newRow(
    { tenant, sessionId, callId }: Owner,
    kind: ArtifactRow['kind'],
    name: string,
    mediaType: string,
  ): ArtifactRow {
    const now = this.clock.now();
    const id = newId('art', now);
    return { id, tenant, sessionId, callId, kind, name, mediaType, size: 0, complete: false, createdAt: now };
  }
}

/** The same bytes in parts of one size. */
async function* partsOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let [held, heldBytes]: [Uint8Array[], number] = [[], 0];
  for await (const bytes of content) {
    held.push(bytes);
    heldBytes += bytes.length;
    if (heldBytes < PART_BYTES) continue;
    const whole = Buffer.concat(held);
    const end = whole.length - (whole.length % PART_BYTES);
    for (let at = 0; at < end; at += PART_BYTES) yield whole.subarray(at, at + PART_BYTES);
    [held, heldBytes] = [[whole.subarray(end)], whole.length - end];
  }
  if (heldBytes > 0) yield Buffer.concat(held);
}

function full() {
  const { count, session } = ARTIFACT_LIMITS;
  return fail('resource_exhausted', {
    message: `The session has its most artifacts already (${count}, or ${formatBytes(session)} in all).`,
  });
}
