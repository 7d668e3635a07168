import type { Detached, ExecSpec, Exit } from '../driver.ts';
import { type CommandTools, killExec } from './attachment.ts';
import type { OpenBox } from './boxes.ts';
import { commandLine } from './command-line.ts';
import { engineError, hasStatus } from './engine.ts';
import { exitOf, exitOfCode } from './exit.ts';
import { detachedMark } from './marks.ts';

/** The engine's exec and the command's id: enough to find a detached command by. */
const REF = /^([0-9a-f]{64})\.([A-Za-z0-9][A-Za-z0-9_-]{0,63})$/;

/** Starts a command that outlives this process; its output goes to the end of `logPath`. */
export async function startDetached(
  tools: CommandTools,
  box: OpenBox,
  spec: ExecSpec,
  logPath: string,
): Promise<Detached> {
  const command = commandLine(box, spec, { mark: detachedMark(spec.id), detached: true });
  await box.folder.shareLog(spec.id, logPath);
  try {
    const [exec] = await Promise.all([box.container.exec(command), tools.watch.connect()]);
    await exec.start({ Detach: true });
    return follow(tools, box, exec.id, spec.id);
  } catch (error) {
    await box.folder.unshareLog(spec.id);
    throw engineError(error, box.id);
  }
}

/** Finds a detached command again: running, or ended with the code that the engine or its launcher kept. */
export async function findDetached(
  tools: CommandTools,
  box: OpenBox,
  ref: string,
): Promise<Detached | undefined> {
  const [, execId, commandId] = REF.exec(ref) ?? [];
  if (!execId || !commandId) return undefined;
  try {
    await tools.engine.client.getExec(execId).inspect();
    return follow(tools, box, execId, commandId);
  } catch (error) {
    if (!hasStatus(error, 404)) throw engineError(error, box.id);
  }
  const code = await box.folder.exitCode(commandId);
  if (code === undefined) return undefined;
  const exited = exitOf({ code, started: true, outOfMemory: false }, box.folder, commandId);
  return { ref, exited, kill: async () => {} };
}

function follow(tools: CommandTools, box: OpenBox, execId: string, commandId: string): Detached {
  const ended = tools.watch.wait(execId);
  void tools.watch.check(execId);
  const exited = ended.then(async (end): Promise<Exit> => {
    await box.folder.unshareLog(commandId);
    const kept = end ? undefined : await box.folder.exitCode(commandId);
    return kept === undefined ? exitOf(end, box.folder, commandId) : exitOfCode(kept);
  });
  const mark = detachedMark(commandId);
  return {
    ref: `${execId}.${commandId}`,
    exited,
    kill: (signal) => killExec(tools.watch, box, execId, exited, mark, signal),
  };
}
