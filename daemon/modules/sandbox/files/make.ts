import { ancestorsOf, bare } from './paths.ts';
import { Batch } from './remote/batch.ts';
import { E, fileError } from './remote/errno.ts';
import { addStat } from './remote/file.ts';
import type { RemoteFiles } from './remote/files.ts';
import { AT_FDCWD } from './remote/numbers.ts';
import { parseStatx } from './remote/stat.ts';

const PARENT_MODE = 0o755;

/** Who a directory that is made belongs to; -1 leaves it to whoever makes it. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Nobody in particular. */
export const NO_OWNER: Owner = { uid: -1, gid: -1 };

/**
 * Makes a directory and those above it, in one round trip. One that is there stays as it is.
 * Answers whether it was made. Errors: file_exists when it is something else, file_denied, not_a_directory.
 */
export async function makeDirectories(
  files: RemoteFiles,
  path: string,
  mode: number = PARENT_MODE,
  owner: Owner = NO_OWNER,
): Promise<boolean> {
  const target = bare(path);
  const batch = new Batch();
  const chain = [...ancestorsOf(target), target];
  for (const [i, one] of chain.entries())
    batch.call('mkdirat', [AT_FDCWD, batch.path(one), i === chain.length - 1 ? mode : PARENT_MODE]);
  addStat(batch, target, true);
  const { results, out } = await files.server.run(batch);
  const [made, seen] = [results.slice(0, -1), results.at(-1) ?? -1];
  if (seen < 0) throw fileError(-(made.find((one) => one < 0 && one !== -E.EXIST) ?? seen), path);
  if (parseStatx(out).kind !== 'directory') throw fileError(E.EXIST, path);
  if (owner.uid !== -1 || owner.gid !== -1)
    for (const [i, one] of chain.entries())
      if (made[i] === 0) await files.setOwner(one, owner.uid, owner.gid);
  return made.at(-1) === 0;
}
