import type { ExecSpec, Execution } from '../../driver.ts';
import type { Found } from '../box/boxes.ts';
import type { Host } from '../box/host.ts';
import { processSpec } from '../box/process-spec.ts';
import { entryDir } from './enter.ts';
import { Input, mergeOutputs } from './pipes.ts';
import { type Piped, spawnPiped } from './spawn.ts';
import { canStart, type Starters } from './starters.ts';

/**
 * Starts a command that belongs to its caller: by a process of its box that waits for one, which takes a
 * millisecond or two, else by the runtime.
 */
export async function execute(
  host: Host,
  starters: Starters,
  found: Found,
  spec: ExecSpec,
): Promise<Execution> {
  const process = processSpec(found.record, spec);
  entryDir(found.dir, spec.id);
  const waiting = canStart(spec) ? await starters.take(found, process) : undefined;
  return executionOf(waiting ?? (await spawnPiped(host, found, spec, { stdin: spec.stdin ?? false })));
}

function executionOf({ entry, child, stdout, stderr, stdin, exit }: Piped): Execution {
  const input = stdin === undefined ? undefined : new Input(stdin);
  const output = mergeOutputs(stdout, stderr);
  const exited = child.exited.then(() => {
    output.relax();
    input?.end().catch(() => {});
    const ended = exit();
    entry.forget();
    return ended;
  });
  return {
    output,
    exited,
    write: async (bytes) => input?.write(bytes),
    endInput: async () => input?.end(),
    kill: (signal) => entry.kill(signal),
  };
}
