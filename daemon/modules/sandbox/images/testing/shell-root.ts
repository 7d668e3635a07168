import { readFileSync, realpathSync } from 'node:fs';
import type { Wanted } from './tars.ts';

const PROGRAMS = ['sh', 'cat', 'ls', 'id', 'stat', 'readlink'];

/** A root file system that can run a shell, copied from the programs of this machine and their libraries. */
export function shellRoot(): Wanted[] {
  const programs = PROGRAMS.map((name) => ({ name, from: realpathSync(Bun.which(name) ?? `/bin/${name}`) }));
  const libraries = new Set(programs.flatMap(({ from }) => librariesOf(from)));
  return [
    { path: 'bin', kind: 'directory' },
    ...programs.map(({ name, from }) => ({ path: `bin/${name}`, mode: 0o755, content: readFileSync(from) })),
    ...[...libraries].map((path) => ({ path: path.slice(1), mode: 0o755, content: readFileSync(path) })),
  ];
}

function librariesOf(program: string): string[] {
  const listed = Bun.spawnSync(['ldd', program]).stdout.toString();
  return [...listed.matchAll(/(\/\S+)/g)].map(([, path]) => path ?? '');
}
