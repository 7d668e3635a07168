import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadInstanceKey, Secrets } from './secrets.ts';

const secrets = new Secrets(randomBytes(32));

test('a sealed value opens for its tenant and row, and shows nothing of itself', () => {
  const sealed = secrets.seal('t', 'row', 'sk-very-secret');
  expect(sealed).not.toContain('secret');
  expect(secrets.open('t', 'row', sealed)).toBe('sk-very-secret');
  expect(secrets.seal('t', 'row', 'sk-very-secret')).not.toBe(sealed);
});

test('a sealed value does not open elsewhere, altered, or with another key', () => {
  const sealed = secrets.seal('t', 'row', 'x');
  expect(() => secrets.open('u', 'row', sealed)).toThrow();
  expect(() => secrets.open('t', 'other', sealed)).toThrow();
  expect(() => secrets.open('t', 'row', `${sealed.slice(0, -4)}AAAA`)).toThrow();
  expect(() => new Secrets(randomBytes(32)).open('t', 'row', sealed)).toThrow();
});

test('the instance key is made once, for the owner alone, and can come from the environment', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-key-'));
  const key = loadInstanceKey(dir, {});
  expect(loadInstanceKey(dir, {}).equals(key)).toBe(true);
  expect(statSync(join(dir, 'instance.key')).mode & 0o777).toBe(0o600);
  expect(loadInstanceKey(dir, { SVC_INSTANCE_KEY: Buffer.alloc(32, 7).toString('base64') })).toEqual(
    Buffer.alloc(32, 7),
  );
  rmSync(dir, { recursive: true });
});
