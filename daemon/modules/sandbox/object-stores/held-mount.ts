import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { asAppError, fail } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import { exists, readJson, writeWhole } from '../drivers/host/files.ts';
import { isMounted } from '../drivers/host/mounts.ts';
import { awaitEnd, isAlive, type ProcessMark } from '../drivers/host/process.ts';
import { run } from '../drivers/host/run.ts';
import type { StoreMount } from './mounts.ts';
import type { Place } from './places.ts';
import { type Program, startProgram } from './program.ts';
import type { Remote } from './remote.ts';
import { Spoken } from './spoken.ts';
import { openWayOut, proxyPortFor, type WayOut } from './way-out.ts';
import { lastWords } from './words.ts';

/** A mount, its place on this host, and what it is opened with. */
export interface MountSpec {
  readonly mount: StoreMount;
  readonly place: Place;
  readonly remote: Remote;
  readonly owner: number;
  /** The control group of such programs; undefined on a host without cgroup2. */
  readonly group: string | undefined;
  /** The field of the request that named the store, for errors. */
  readonly field: string;
}

const READY_MS = 40 * SECOND_MS;
const FLUSH_MS = 20 * SECOND_MS;
const END_MS = 5 * SECOND_MS;
/** Settings of a remote that everybody may read. */
const PLAIN = /_(TYPE|PROVIDER|REGION|ENDPOINT|NO_CHECK_BUCKET|ENV_AUTH|BUCKET_POLICY_ONLY|ACCOUNT)$/;
/** What was written and is not in the store yet is marked so in the folder of the cache. */
const COUNT_UNSENT = `grep -rlE '"Dirty": *true' "$1/vfsMeta" 2>/dev/null | wc -l`;

/** One object store that is mounted on this host, and the process that serves it. */
export class HeldMount {
  private readonly secrets: readonly string[];
  private readonly spoken: Spoken;

  private constructor(
    readonly spec: MountSpec,
    private readonly mark: ProcessMark,
    private readonly wayOut: WayOut,
  ) {
    this.secrets = secretsOf(spec.remote);
    this.spoken = new Spoken(spec.place.log, this.secrets);
  }

  /**
   * Mounts it and waits until it is there. When that fails nothing of it is left.
   * Errors: upstream_failed with what the store said, unavailable.
   */
  static async open(spec: MountSpec, outbound: Outbound): Promise<HeldMount> {
    const { place, remote, owner, group, mount } = spec;
    await letGo(place);
    mkdirSync(place.cache, { recursive: true, mode: 0o700 });
    makePoint(place);
    writeWhole(place.log, '');
    const program = await startProgram({
      remote,
      place,
      owner,
      group,
      proxyPort: proxyPortFor(mount.endpoint),
    });
    let held: HeldMount | undefined;
    try {
      writeWhole(place.mark, JSON.stringify(program.mark));
      held = new HeldMount(spec, program.mark, wayOutOf(spec, program.mark, outbound));
      program.go();
      await held.untilMounted(program);
      held.spoken.skip();
      return held;
    } catch (error) {
      held?.wayOut.close();
      kill(program.mark, 'SIGKILL');
      await letGo(place);
      throw asAppError(error);
    }
  }

  /** Takes up a mount that an earlier daemon has made; undefined when its process is gone. */
  static adopt(spec: MountSpec, outbound: Outbound): HeldMount | undefined {
    const mark = readJson<ProcessMark>(spec.place.mark);
    if (!mark || !isAlive(mark) || !isMounted(spec.place.point)) return undefined;
    const held = new HeldMount(spec, mark, wayOutOf(spec, mark, outbound));
    held.spoken.skip();
    return held;
  }

  get isServed(): boolean {
    return isAlive(this.mark);
  }

  /** Ends it when what was written has reached the store, or at a deadline. Gives how many files have not. */
  async close(): Promise<number> {
    const { place } = this.spec;
    const unsent = await this.flush();
    kill(this.mark, 'SIGTERM');
    await awaitEnd(this.mark, END_MS);
    this.wayOut.close();
    await letGo(place);
    return unsent;
  }

  /** Cuts off whoever waits for it, at once: their calls fail. What was written stays in the cache. */
  async cut(): Promise<void> {
    kill(this.mark, 'SIGKILL');
    await awaitEnd(this.mark, END_MS);
  }

  /** What the process has said since the last time. */
  news(): string[] {
    return this.spoken.news();
  }

  private async untilMounted({ exited }: Program): Promise<void> {
    const { mount, place } = this.spec;
    let code: number | undefined;
    void exited.then((ended) => {
      code = ended;
    });
    const end = Date.now() + READY_MS;
    for (let pause = 5; !isMounted(place.point); pause = Math.min(pause * 2, 50)) {
      const isLate = Date.now() > end;
      if (code !== undefined || isLate) {
        const said = lastWords(readFileSync(place.log, 'utf8'), this.secrets);
        const why = isLate ? 'it does not answer in time' : said;
        throw fail('upstream_failed', {
          message: `The ${mount.type} bucket ${mount.bucket} cannot be mounted: ${why}`,
        });
      }
      await Bun.sleep(pause);
    }
  }

  private async flush(): Promise<number> {
    const end = Date.now() + FLUSH_MS;
    let unsent = await countUnsent(this.spec.place);
    for (
      let pause = 100;
      unsent > 0 && this.isServed && Date.now() < end;
      pause = Math.min(pause * 2, 1_000)
    ) {
      await Bun.sleep(pause);
      unsent = await countUnsent(this.spec.place);
    }
    return unsent;
  }
}

/** Ends what is left of a mount whose process, mount or both may be gone. Its cache stays. */
export async function letGo({ mark: file, point }: Place): Promise<void> {
  const mark = readJson<ProcessMark>(file);
  kill(mark, 'SIGKILL');
  await awaitEnd(mark, END_MS);
  // Lazily: a program that hangs in it must not hold up the daemon.
  if (isMounted(point)) await run(['umount', '--lazy', point]);
  if (exists(point)) rmdirSync(point);
}

/** How many files are in the cache of a mount and not in the store. */
async function countUnsent({ cache }: Place): Promise<number> {
  return (
    Number.parseInt(await run(['/bin/sh', '-c', COUNT_UNSENT, 'sh', cache], { timeoutMs: 30_000 }), 10) || 0
  );
}

function wayOutOf({ mount, field }: MountSpec, mark: ProcessMark, outbound: Outbound): WayOut {
  return openWayOut(mark.pid, mount.endpoint, (authority) =>
    outbound.connect({ authority, trust: 'tenant', field }),
  );
}

function makePoint({ point }: Place): void {
  const root = dirname(dirname(point));
  // Other things of the instance stand beside it that everybody may enter.
  mkdirSync(dirname(root), { recursive: true });
  mkdirSync(root, { recursive: true, mode: 0o700 });
  mkdirSync(point, { recursive: true, mode: 0o700 });
}

/** Signals the program and what it has started, which are a session of their own. */
function kill(mark: ProcessMark | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (!mark || !isAlive(mark)) return;
  try {
    process.kill(-mark.pid, signal);
  } catch {
    // It ended in between: that is what was wanted.
  }
}

function secretsOf({ env }: Remote): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (PLAIN.test(name)) return [];
    const key = /"private_key":"([^"]+)"/.exec(value)?.[1];
    const signature = /[?&]sig=([^&]+)/.exec(value)?.[1];
    return [value, ...(key ? [key] : []), ...(signature ? [signature] : [])];
  });
}
