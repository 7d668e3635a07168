import { writeSync } from 'node:fs';
import type { JsonObject } from '../tool.ts';
import { openToolScene, type SceneOptions, testCall } from './scene.ts';

/** What a daemon does before it is killed. */
export interface LastCall {
  readonly scene: SceneOptions;
  readonly tool: string;
  readonly args: JsonObject;
  /** `note`: at the moment when the first note is on the disk. A number: so many milliseconds after it. */
  readonly dies: 'note' | number;
}

/** A life of the daemon that calls a tool and is killed. It prints its notes. */
async function main(last: LastCall): Promise<void> {
  const scene = await openToolScene(last.scene);
  const die = () => process.kill(process.pid, 'SIGKILL');
  const call = testCall({}, (text) => {
    // It is written at once: nothing that is held back survives.
    writeSync(1, `${text}\n`);
    if (last.dies === 'note') die();
    else setTimeout(die, last.dies);
  });
  await scene.run(last.tool, last.args, call);
  await new Promise(() => {});
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? '') as LastCall);

/** Lets another process call a tool and die; answers what it had noted. */
export async function callAndDie(last: LastCall): Promise<string[]> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(last)], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const text = await new Response(child.stdout).text();
  await child.exited;
  if (child.signalCode !== 'SIGKILL') throw new Error(`it was not killed: ${child.exitCode}`);
  return text.trimEnd().split('\n');
}
