import { lstat, readdir, rm } from 'node:fs/promises';
import { isOpaque } from '../../host/syscalls.ts';
import { copyTree } from './tree.ts';

/**
 * Makes one layer of several, the topmost first, into `to`, which must not exist: a stack of overlays may not grow
 * for ever. Nobody else works in any of them. Errors: HostCommandError, those of node:fs.
 */
export async function mergeLayers(layers: readonly string[], to: string): Promise<void> {
  const [lowest, ...above] = layers.toReversed();
  if (lowest === undefined) return;
  await copyTree(lowest, to);
  for (const layer of above) {
    await clear(Buffer.from(layer), Buffer.from(to));
    await copyTree(layer, to);
  }
}

/**
 * Takes out of `into` what the layer replaces, so that copying it there meets only folders where it has folders.
 * `into` was seen to be a folder and no link; so is every folder on the way down.
 */
async function clear(layer: Buffer, into: Buffer): Promise<void> {
  for (const name of await readdir(layer, { encoding: 'buffer' })) {
    const [over, under] = [below(layer, name), below(into, name)];
    const there = await lstat(under).catch(() => undefined);
    if (!there) continue;
    const mixes = there.isDirectory() && (await lstat(over)).isDirectory() && !isOpaque(over);
    if (mixes) await clear(over, under);
    else await rm(under, { recursive: true, force: true });
  }
}

function below(dir: Buffer, name: Buffer): Buffer {
  return Buffer.concat([dir, Buffer.from('/'), name]);
}
