import type { Finding } from '../drivers/driver.ts';
import { exists } from '../drivers/host/files.ts';
import { findProgram } from '../drivers/host/run.ts';

/** Programs that a mount takes, and the Debian packages that bring them. */
const PROGRAMS = {
  rclone: 'rclone',
  fusermount3: 'fuse3',
  unshare: 'util-linux',
  setpriv: 'util-linux',
  prlimit: 'util-linux',
  setsid: 'util-linux',
  ip: 'iproute2',
} as const;

/** Why this host can mount no object store, with what mends it; undefined when it can. */
export function whyNot(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'Object stores can only be mounted by a daemon that is root on Linux.';
  const missing = Object.entries(PROGRAMS).filter(([program]) => !findProgram(program));
  if (missing.length > 0) {
    const packages = [...new Set(missing.map(([, name]) => name))].join(' ');
    const names = missing.map(([program]) => program).join(', ');
    return `Object stores cannot be mounted here: ${names} not installed. Install: apt-get install ${packages}`;
  }
  return exists('/dev/fuse')
    ? undefined
    : 'Object stores cannot be mounted here: /dev/fuse is not there. Load the kernel module: modprobe fuse';
}

/** The same for the doctor. Nothing is installed for it unasked: most sandboxes have no object store. */
export function objectStoreFinding(): Finding {
  const check = 'object_stores';
  const why = whyNot();
  return why === undefined
    ? { check, status: 'ok', message: `rclone (${findProgram('rclone')}) and FUSE are here` }
    : { check, status: 'degraded', message: why };
}
