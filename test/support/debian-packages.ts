import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { runCommand } from './run-command.ts';

/** Debian asks it before a package starts a service (policy-rc.d, invoke-rc.d(8)). */
const SERVICE_POLICY = '/usr/sbin/policy-rc.d';

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
  const install = ['install', '-y', '-qq', '-o', 'DPkg::Lock::Timeout=120', '--no-install-recommends'];
  await withoutServices(() => runCommand(['apt-get', ...install, ...packages]));
  const absent = missing.filter(([program]) => !findProgram(program)).map(([program]) => program);
  if (absent.length > 0) throw new Error(`Still missing after the installation: ${absent.join(', ')}`);
}

/** Keeps packages from starting what they bring: a Docker engine of the host would change its firewall. */
async function withoutServices<T>(work: () => Promise<T>): Promise<T> {
  if (existsSync(SERVICE_POLICY)) return work();
  await writeFile(SERVICE_POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return await work();
  } finally {
    await rm(SERVICE_POLICY, { force: true });
  }
}

/** Where a program is, also in the folders of the administrator. */
export function findProgram(name: string): string | undefined {
  return Bun.which(name, { PATH: `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin` }) ?? undefined;
}
