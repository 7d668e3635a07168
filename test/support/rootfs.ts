import { cp, mkdir, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ensurePrograms, refreshPackageLists } from './debian-packages.ts';
import { runCommand, tryCommand } from './run-command.ts';

/** Where built root file systems stay between runs: `$XDG_CACHE_HOME/svc-test`, else `~/.cache/svc-test`. */
export function testCacheDir(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc-test');
}

/**
 * A root file system of BusyBox and nothing else (2 MB tar, no /etc/passwd, no /home), from Debian's
 * busybox-static. @returns the path of the tar
 */
export function busyboxRootfs(): Promise<string> {
  return cached('busybox-1.tar', async (dir, tar) => {
    const busybox = await fetchBusybox(dir);
    const root = join(dir, 'root');
    for (const folder of ['bin', 'etc', 'tmp', 'mnt', 'root', 'proc', 'sys', 'dev'])
      await mkdir(join(root, folder), { recursive: true });
    await cp(busybox, join(root, 'bin/busybox'));
    const applets = (await runCommand([busybox, '--list-full'])).trim().split('\n');
    for (const applet of applets.filter((path) => path !== 'bin/busybox')) {
      await mkdir(join(root, dirname(applet)), { recursive: true });
      await symlink('/bin/busybox', join(root, applet));
    }
    await runCommand(['chmod', '1777', join(root, 'tmp')]);
    await runCommand(['tar', '-C', root, '--owner=0', '--group=0', '-cf', tar, '.']);
  });
}

/** A Debian root file system with dash, bash and the core utilities (120 MB tar). @returns the path of the tar */
export function debianRootfs(): Promise<string> {
  return cached('debian-1.tar', async (_, tar) => {
    await ensurePrograms({ mmdebstrap: 'mmdebstrap' });
    const include = 'dash,bash,coreutils,util-linux,grep,sed,base-files,base-passwd';
    const suite = /^VERSION_CODENAME=(.+)$/m.exec(await Bun.file('/etc/os-release').text())?.[1] ?? 'stable';
    await runCommand([
      'mmdebstrap',
      '--quiet',
      '--format=tar',
      '--variant=extract',
      `--include=${include}`,
      suite,
      tar,
    ]);
  });
}

async function fetchBusybox(dir: string): Promise<string> {
  const download = ['apt-get', 'download', '-qq', '-o', 'APT::Sandbox::User=root', 'busybox-static'];
  if ((await tryCommand(download, { cwd: dir })).code !== 0) {
    await refreshPackageLists();
    await runCommand(download, { cwd: dir });
  }
  const archive = (await readdir(dir)).find((name) => name.endsWith('.deb'));
  if (!archive) throw new Error('apt-get download busybox-static left no package');
  await runCommand(['dpkg-deb', '-x', join(dir, archive), join(dir, 'package')]);
  for (const path of ['package/bin/busybox', 'package/usr/bin/busybox'])
    if (await Bun.file(join(dir, path)).exists()) return join(dir, path);
  throw new Error('The package busybox-static has no busybox');
}

/** The cached file, made first when it is missing; it appears whole or not at all. */
async function cached(name: string, make: (dir: string, tar: string) => Promise<void>): Promise<string> {
  const path = join(testCacheDir(), name);
  if (await Bun.file(path).exists()) return path;
  await mkdir(testCacheDir(), { recursive: true });
  const dir = await mkdtemp(join(tmpdir(), 'svc-test-rootfs-'));
  const part = `${path}.${process.pid}.part`;
  try {
    await make(dir, part);
    await rename(part, path);
  } finally {
    await rm(dir, { recursive: true, force: true });
    await rm(part, { recursive: true, force: true });
  }
  return path;
}
