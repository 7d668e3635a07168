import { fail } from '../../../../src/errors/app-error.ts';
import { MINUTE_MS } from '../../../../src/kit/time.ts';
import type { ExecSpec, SandboxDriver } from '../drivers/driver.ts';
import { CALL_PATH } from '../drivers/programs/call-program.ts';
import { RemoteFiles } from './remote/files.ts';
import { CallServer } from './remote/server.ts';

/** Whose files they are, inside. */
export type BoxUser = Pick<ExecSpec, 'uid' | 'gid'>;

/** Root inside the sandbox, and nowhere else: for what changes owners. */
export const BOX_ROOT: BoxUser = { uid: 0, gid: 0 };

/** What the processes of a box are for: large contents never make small questions wait. */
export type Lane = 'small' | 'large';

/** A process that nobody uses is ended after this. */
const IDLE_MS = 3 * MINUTE_MS;

interface Kept {
  readonly files: Promise<RemoteFiles>;
  ready?: RemoteFiles;
  usedAt: number;
}

/**
 * The processes that carry out calls in boxes, kept while they are used. They hold no truth: one that ended is
 * replaced, and they end with the daemon, whose end of their input closes.
 */
export class BoxServers {
  private readonly kept = new Map<string, Kept>();
  private readonly timer: Timer;
  private isClosed = false;

  constructor(private readonly driver: SandboxDriver) {
    this.timer = setInterval(() => this.endIdle(), MINUTE_MS);
    this.timer.unref();
  }

  /** The files of a box over a process that is shared by all who use that lane. Errors: unavailable. */
  async shared(boxId: string, user: BoxUser = {}, lane: Lane = 'small'): Promise<RemoteFiles> {
    const key = `${boxId} ${user.uid ?? ''} ${user.gid ?? ''} ${lane}`;
    const known = this.kept.get(key);
    if (known && !known.ready?.server.isEnded) {
      known.usedAt = performance.now();
      return known.files;
    }
    const kept: Kept = { files: this.start(boxId, user), usedAt: performance.now() };
    this.kept.set(key, kept);
    const forget = () => {
      if (this.kept.get(key) === kept) this.kept.delete(key);
    };
    kept.files.then((files) => {
      kept.ready = files;
      files.server.whenEnded(forget);
    }, forget);
    return kept.files;
  }

  /** The files of a box over a process of the caller's own, which it closes. Errors: unavailable. */
  async start(boxId: string, user: BoxUser = {}): Promise<RemoteFiles> {
    if (this.isClosed) throw fail('unavailable', { message: 'The daemon is stopping.' });
    const id = `call_${crypto.randomUUID()}`;
    const spec: ExecSpec = { ...user, id, argv: [CALL_PATH], cwd: '/', stdin: true };
    const server = new CallServer(await this.driver.exec(boxId, spec));
    await server.hello();
    return new RemoteFiles(server);
  }

  /** Ends the processes of a box. */
  forget(boxId: string): void {
    for (const [key, { ready }] of this.kept) if (key.startsWith(`${boxId} `)) ready?.server.close();
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    for (const { files } of this.kept.values())
      files.then(({ server }) => server.close()).catch(() => undefined);
  }

  private endIdle(): void {
    const before = performance.now() - IDLE_MS;
    for (const { ready, usedAt } of this.kept.values())
      if (ready && usedAt < before && !ready.isBusy) ready.server.close();
  }
}
