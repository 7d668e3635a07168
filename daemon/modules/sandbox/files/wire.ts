import { rfc3339 } from '../../../../src/kit/time.ts';
import type { Accounts } from './accounts.ts';
import { spellMode } from './paths.ts';
import type { RemoteFiles } from './remote/files.ts';
import type { Found } from './walk.ts';

/** Links whose targets are asked for at once. */
const AT_ONCE = 50;
/** What the calendar of the wire can hold: years 1 to 9999. */
const [EARLIEST, LATEST] = [-62_135_596_800_000, 253_402_300_799_999];

/** Files as the API describes them, in the order given. */
export async function describeFiles(files: RemoteFiles, accounts: Accounts, found: readonly Found[]) {
  const namesOf = await accounts.namesOf(files);
  const targets = await linkTargets(files, found);
  return found.map(({ path, stat }) => {
    const target = targets.get(path);
    return {
      path: path.toWellFormed(),
      type: stat.kind,
      size: Math.min(stat.size, Number.MAX_SAFE_INTEGER),
      modified_at: timeOf(stat.modifiedAt),
      created_at: timeOf(stat.createdAt),
      ...namesOf(stat),
      mode: spellMode(stat.mode),
      ...(target === undefined ? {} : { target: target.toWellFormed() }),
    };
  });
}

async function linkTargets(files: RemoteFiles, found: readonly Found[]): Promise<Map<string, string>> {
  const links = found.filter(({ stat }) => stat.kind === 'symlink');
  const targets = new Map<string, string>();
  for (let at = 0; at < links.length; at += AT_ONCE)
    await Promise.all(
      links.slice(at, at + AT_ONCE).map(async ({ path }) => {
        const target = await files.readLink(path).catch(() => undefined);
        if (target !== undefined) targets.set(path, target);
      }),
    );
  return targets;
}

function timeOf(ms: number): string {
  return rfc3339(Math.min(Math.max(ms, EARLIEST), LATEST));
}
