import type { Detached, ExecSpec, Exit } from '../driver.ts';
import { type CommandTools, killCommand } from './attachment.ts';
import type { OpenBox } from './boxes.ts';
import { commandLine } from './command-line.ts';
import { type Engine, engineError, hasStatus } from './engine.ts';
import { exitOf, LOST } from './exit.ts';
import { hasMarked } from './kill.ts';
import { detachedMark, onlyMark } from './marks.ts';

/** The engine's exec and the command's id: enough to find a detached command by. */
const REF = /^([0-9a-f]{64})\.([A-Za-z0-9][A-Za-z0-9_-]{0,63})$/;
const LOOK_AGAIN_MS = 1_000;
const RECORD_MS = 200;

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

/** Finds a detached command again: the engine knows it, its launcher noted its end, or its processes are there. */
export async function findDetached(
  tools: CommandTools,
  box: OpenBox,
  ref: string,
): Promise<Detached | undefined> {
  const [, execId, commandId] = REF.exec(ref) ?? [];
  if (!execId || !commandId) return undefined;
  const isKnown =
    (await knowsExec(tools.engine, execId, box.id)) ||
    (await box.folder.exitCode(commandId)) !== undefined ||
    (await isAlive(box, commandId));
  return isKnown ? follow(tools, box, execId, commandId) : undefined;
}

function follow(tools: CommandTools, box: OpenBox, execId: string, commandId: string): Detached {
  const ended = tools.watch.wait(execId);
  void tools.watch.check(execId);
  const exited = ended.then(async (end): Promise<Exit> => {
    const exit = end ? await exitOf(end, box.folder, commandId) : await exitOfForgotten(box, commandId);
    await box.folder.unshareLog(commandId);
    return exit;
  });
  const mark = detachedMark(commandId);
  return {
    ref: `${execId}.${commandId}`,
    exited,
    kill: (signal) => killCommand(tools.watch, { box, execId, mark, exited }, signal),
  };
}

async function knowsExec({ client }: Engine, execId: string, boxId: string): Promise<boolean> {
  try {
    await client.getExec(execId).inspect();
    return true;
  } catch (error) {
    if (hasStatus(error, 404)) return false;
    throw engineError(error, boxId);
  }
}

/**
 * The engine drops an exec some minutes after its end, and all of them when it restarts under running boxes.
 * What the launcher noted then counts; while processes of the command are there, its end is still to come.
 */
async function exitOfForgotten(box: OpenBox, commandId: string): Promise<Exit> {
  for (;;) {
    const wasAlive = await isAlive(box, commandId);
    if (!wasAlive) await Bun.sleep(RECORD_MS);
    const code = await box.folder.exitCode(commandId);
    if (code !== undefined) return exitOf({ code, started: true, outOfMemory: false }, box.folder, commandId);
    if (!wasAlive) return LOST;
    await Bun.sleep(LOOK_AGAIN_MS);
  }
}

/** A box that does not answer has no processes. */
function isAlive(box: OpenBox, commandId: string): Promise<boolean> {
  return hasMarked(box.container, onlyMark(detachedMark(commandId))).catch(() => false);
}
