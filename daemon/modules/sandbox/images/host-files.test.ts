import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { listHostFiles, readHostFile } from './host-files.ts';

describe('what boxes get of /etc', () => {
  let etc = '';
  const put = async (path: string, text: string, mode = 0o644) => {
    await mkdir(dirname(join(etc, path)), { recursive: true });
    await writeFile(join(etc, path), text);
    await chmod(join(etc, path), mode);
  };
  beforeAll(async () => {
    etc = await mkdtemp(join(tmpdir(), 'svc-etc-'));
    for (const path of [
      'shadow',
      'gshadow',
      'passwd',
      'ssh/ssh_host_ed25519_key',
      'ssl/private/key.pem',
      'environment',
    ])
      await put(path, 'secret');
    for (const path of [
      'gitconfig',
      'npmrc',
      'pip.conf',
      'fstab',
      'docker/daemon.json',
      'profile.d/proxy.sh',
      'hosts',
    ])
      await put(path, 'secret');
    await put('pki/tls/private/host.key', 'secret');
    await put('ld.so.conf', 'x');
    await put('ld.so.conf.d/a.conf', 'x');
    await put('python3.11/sitecustomize.py', 'x');
    await put('java-17/conf/secret.properties', 'x', 0o600);
    await put('java-17/conf/open.properties', 'x');
    await put('ssl/certs/ca.pem', '-----BEGIN CERTIFICATE-----');
    await put('ssl/certs/oops.pem', '-----BEGIN RSA PRIVATE KEY-----\nMII');
    await symlink('/root/.ssh/id_ed25519', join(etc, 'ssl/certs/link.pem'));
  });
  afterAll(() => rm(etc, { recursive: true, force: true }));

  test('is what programs need, and nothing that is secret or not for everybody', async () => {
    const files = await listHostFiles(etc);
    expect(files.map(({ path }) => path).sort()).toEqual([
      'java-17/conf/open.properties',
      'ld.so.conf',
      'ld.so.conf.d/a.conf',
      'python3.11/sitecustomize.py',
      'ssl/certs/ca.pem',
      'ssl/certs/link.pem',
      'ssl/certs/oops.pem',
    ]);
    const link = files.find(({ path }) => path === 'ssl/certs/link.pem');
    expect(link?.link).toBe('/root/.ssh/id_ed25519');
  });

  test('is never a private key, wherever it lies', async () => {
    const files = await listHostFiles(etc);
    const read = async (name: string) => {
      const file = files.find(({ path }) => path.endsWith(name));
      return file && (await readHostFile(etc, file));
    };
    expect(await read('oops.pem')).toBeUndefined();
    expect(Buffer.from((await read('ca.pem')) ?? []).toString()).toContain('CERTIFICATE');
  });
});
