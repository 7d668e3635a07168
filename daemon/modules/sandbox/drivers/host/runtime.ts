import { findProgram, run } from './run.ts';

/** An OCI runtime of the host. */
export interface Runtime {
  readonly name: 'crun' | 'runc';
  readonly path: string;
  /** `1.8.1` */
  readonly version: string;
}

/** runc before this lets a box reach the host's files through a leaked descriptor (CVE-2024-21626). */
const SAFE_RUNC = '1.1.12';

/** The runtime that boxes run on: crun, which is faster, else runc. Undefined when the host has neither. */
export async function findRuntime(): Promise<Runtime | undefined> {
  for (const name of ['crun', 'runc'] as const) {
    const path = findProgram(name);
    if (!path) continue;
    const text = await run([path, '--version']).catch(() => '');
    const version = /version v?(\d+\.\d+(\.\d+)?)/.exec(text)?.[1];
    if (version) return { name, path, version };
  }
  return undefined;
}

/** What is known to be wrong with a runtime; undefined when nothing is. */
export function knownWeakness({ name, version }: Runtime): string | undefined {
  if (name === 'runc' && Bun.semver.order(threeParts(version), SAFE_RUNC) < 0)
    return `runc ${version} is older than ${SAFE_RUNC}: CVE-2024-21626 lets a box out. Install crun, or a newer runc.`;
  return undefined;
}

function threeParts(version: string): string {
  return version.split('.').length === 2 ? `${version}.0` : version;
}
