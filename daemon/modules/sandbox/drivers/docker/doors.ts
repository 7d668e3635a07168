import { fail } from '../../../../../src/errors/app-error.ts';
import type { Connection } from '../driver.ts';
import { dialNetworkOf } from '../host/dial.ts';
import { readText } from '../host/files.ts';
import { isAlive, markOf, type ProcessMark } from '../host/process.ts';
import type { Boxes } from './boxes.ts';
import { withEngine } from './engine.ts';

/** Ways into the networks of containers: through their first process, when the engine runs on this host. */
export class Doors {
  /** The first process of each box, as it was found last; a process that ended is looked for again. */
  private readonly known = new Map<string, ProcessMark>();

  constructor(private readonly boxes: Boxes) {}

  /** Connects to a port of a box. Errors: as `SandboxDriver.dial`. */
  async dial(id: string, port: number): Promise<Connection> {
    const mark = await this.firstProcess(id);
    if (!mark) throw elsewhere();
    return dialNetworkOf(mark, port);
  }

  /** The first process of a box as this host sees it; undefined when the engine runs elsewhere. */
  async hostProcess(id: string): Promise<number | undefined> {
    return (await this.firstProcess(id))?.pid;
  }

  forget(id: string): void {
    this.known.delete(id);
  }

  private async firstProcess(id: string): Promise<ProcessMark | undefined> {
    const before = this.known.get(id);
    if (isAlive(before)) return before;
    this.known.delete(id);
    const { Id: containerId, State: state } = await withEngine(id, () => this.boxes.container(id).inspect());
    if (!state.Running) throw fail('failed_precondition', { message: `The box ${id} is not running.` });
    const mark = localMark(containerId, state.Pid);
    if (mark) this.known.set(id, mark);
    return mark;
  }
}

/** Marks a process if it is of this container: an engine in a virtual machine gives numbers of another kernel. */
function localMark(containerId: string, pid: number): ProcessMark | undefined {
  if (process.platform !== 'linux' || pid <= 0) return undefined;
  const mark = markOf(pid);
  const groups = readText(`/proc/${pid}/cgroup`);
  return groups?.includes(containerId) && isAlive(mark) ? mark : undefined;
}

function elsewhere(): Error {
  return fail('not_configured', {
    message: 'Ports of sandboxes cannot be reached: the Docker engine does not run on this host.',
  });
}
