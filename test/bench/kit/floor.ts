import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './quantile.ts';

const ROUNDS = 20;

/** What the host itself cannot go below, in milliseconds, measured now. */
export interface Floor {
  /** fork, exec and wait of `true`. */
  readonly spawnMs: number;
  /** An overlay mounted by mount(8), which is a process more; undefined where that is not allowed. */
  readonly overlayMs: number | undefined;
}

/** Measures the floor of this host. */
export async function measureFloor(): Promise<Floor> {
  return { spawnMs: median(await times(() => runQuietly(['true']))), overlayMs: await overlayMs() };
}

/** Runs a program to its end. Errors: an exit code that is not 0. */
export async function runQuietly(argv: readonly string[]): Promise<void> {
  const code = await Bun.spawn([...argv], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).exited;
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}`);
}

async function overlayMs(): Promise<number | undefined> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-overlay-'));
  const [lower, upper, work, target] = ['lower', 'upper', 'work', 'target'].map((name) => join(dir, name));
  for (const path of [lower, upper, work, target]) mkdirSync(path ?? dir);
  const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
  const mount = ['mount', '-t', 'overlay', 'overlay', '-o', options, target ?? ''];
  try {
    return median(
      await times(
        () => runQuietly(mount),
        () => runQuietly(['umount', target ?? '']),
      ),
    );
  } catch {
    return undefined;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Milliseconds of each run of `work`; what `after` takes is not counted. */
async function times(work: () => Promise<void>, after = async () => {}): Promise<number[]> {
  const list: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await work();
    list.push(performance.now() - start);
    await after();
  }
  return list;
}
