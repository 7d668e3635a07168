import { runCommand } from './run-command.ts';

let listsAreFresh: Promise<unknown> | undefined;

/** Reads the package lists once a run. */
export function refreshPackageLists(): Promise<unknown> {
  listsAreFresh ??= runCommand(['apt-get', 'update', '-qq']);
  return listsAreFresh;
}

/**
 * Installs Debian packages whose program is missing; does nothing when all are there.
 * @param programs program name -> the package that brings it
 */
export async function ensurePrograms(programs: Readonly<Record<string, string>>): Promise<void> {
  const missing = Object.entries(programs).filter(([program]) => !findProgram(program));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map(([, name]) => name))];
  await refreshPackageLists();
  await runCommand([
    'apt-get',
    'install',
    '-y',
    '-qq',
    '-o',
    'DPkg::Lock::Timeout=120',
    '--no-install-recommends',
    ...packages,
  ]);
  const absent = missing.filter(([program]) => !findProgram(program)).map(([program]) => program);
  if (absent.length > 0) throw new Error(`Still missing after the installation: ${absent.join(', ')}`);
}

/** Where a program is, also in the folders of the administrator. */
export function findProgram(name: string): string | undefined {
  return Bun.which(name, { PATH: `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin` }) ?? undefined;
}
