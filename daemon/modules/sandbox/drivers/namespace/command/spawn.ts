import { closeSync, fchownSync } from 'node:fs';
import type { ExecSpec, Exit } from '../../driver.ts';
import { HOST_ENV } from '../../host/run.ts';
import { makePipe } from '../../host/syscalls.ts';
import type { Found } from '../box/boxes.ts';
import type { Host } from '../box/host.ts';
import { Entry } from './enter.ts';
import { codeOf } from './exit.ts';

/** A process of the runtime on its way into a box, and the daemon's ends of its pipes. */
export interface Piped {
  readonly entry: Entry;
  readonly child: Bun.Subprocess;
  readonly stdout: number;
  readonly stderr: number;
  readonly stdin?: number;
  /** How the command ended, once the process has. */
  readonly exit: () => Exit;
}

/** What the process has beside its two outputs. */
export interface PipedOptions {
  /** A pipe as stdin; /dev/null otherwise. */
  readonly stdin: boolean;
  /** Descriptors that the program has from 3 on. They are closed here. */
  readonly extra?: readonly number[];
}

/** Starts the runtime for a command, with pipes that the command's user can open again by name. */
export async function spawnPiped(
  host: Host,
  found: Found,
  spec: ExecSpec,
  options: PipedOptions,
): Promise<Piped> {
  const { extra = [] } = options;
  const [stdout, stderr] = [makePipe(), makePipe()];
  const stdin = options.stdin ? makePipe() : undefined;
  const ends = { stdout: stdout.read, stderr: stderr.read, stdin: stdin?.write };
  let entry: Entry | undefined;
  try {
    entry = await Entry.open(host, found, spec, { preserve: extra.length });
    for (const pipe of [stdout, stderr, stdin])
      if (pipe) fchownSync(pipe.write, entry.hostUid, entry.hostGid);
    return { ...start(entry, [stdin?.read ?? 'ignore', stdout.write, stderr.write, ...extra]), ...ends };
  } catch (error) {
    for (const end of Object.values(ends)) if (end !== undefined) closeSync(end);
    entry?.forget();
    throw error;
  } finally {
    for (const end of [stdout.write, stderr.write, stdin?.read, ...extra])
      if (end !== undefined) closeSync(end);
  }
}

function start(
  entry: Entry,
  stdio: ['ignore' | number, number, number, ...number[]],
): Pick<Piped, 'entry' | 'child' | 'exit'> {
  const child = Bun.spawn([...entry.argv], { env: { ...HOST_ENV }, cwd: '/', stdio });
  return { entry, child, exit: () => entry.exit(codeOf(child)) };
}
