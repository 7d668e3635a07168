import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadHostKey } from './host-key.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-host-key-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const path = () => join(dir, 'ssh_host_ed25519_key');

test('the host key is made once, whole, and for its owner alone', async () => {
  const first = await loadHostKey(dir);
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(['ssh_host_ed25519_key']);
  expect(await loadHostKey(dir)).toEqual(first);
  expect(first.publicLine).toMatch(/^ssh-ed25519 [A-Za-z0-9+/]+=*$/);
});

test('what a crash has left beside it is no key', async () => {
  writeFileSync(`${path()}.new`, 'half a');
  const key = await loadHostKey(dir);
  expect(key.privateKey).toBe(readFileSync(path(), 'utf8'));
  expect(readdirSync(dir)).toEqual(['ssh_host_ed25519_key']);
});

test('a key that others could read is closed to them', async () => {
  await loadHostKey(dir);
  chmodSync(path(), 0o644);
  await loadHostKey(dir);
  expect(statSync(path()).mode & 0o777).toBe(0o600);
});

test('a file that is no key is left alone: clients may know the key that it was', async () => {
  writeFileSync(path(), 'not a key');
  await expect(loadHostKey(dir)).rejects.toThrow('is not a private key');
  expect(readFileSync(path(), 'utf8')).toBe('not a key');
});
