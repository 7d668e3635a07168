import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkTold, hostBlock } from './host-block.ts';
import { rememberHostKey } from './known-hosts.ts';

let env: { XDG_CONFIG_HOME: string };
beforeEach(() => {
  env = { XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), 'svc-cli-ssh-')) };
});
afterEach(() => rmSync(env.XDG_CONFIG_HOME, { recursive: true }));

test('the host key of an address takes the place of the one before, and others stay', () => {
  rememberHostKey(env, 'a.example', 2222, 'ssh-ed25519 AAAA1');
  rememberHostKey(env, 'b.example', 22, 'ssh-ed25519 AAAA2');
  const path = rememberHostKey(env, 'a.example', 2222, 'ssh-ed25519 AAAA3');
  expect(readFileSync(path, 'utf8')).toBe(
    'b.example ssh-ed25519 AAAA2\n[a.example]:2222 ssh-ed25519 AAAA3\n',
  );
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a block is read by ssh as it was meant, paths with blanks and percent signs too', () => {
  const knownHosts = '/tmp/my 100%d/known_hosts';
  const block = hostBlock({ alias: 'box', host: '127.0.0.1', port: 2222, user: 'sbx_1', knownHosts });
  const { stdout } = Bun.spawnSync(['ssh', '-G', '-F', '/dev/stdin', 'box'], { stdin: Buffer.from(block) });
  const lines = stdout.toString().split('\n');
  expect(lines).toContain('hostname 127.0.0.1');
  expect(lines).toContain('user sbx_1');
  expect(lines).toContain('stricthostkeychecking true');
  expect(lines.find((line) => line.startsWith('userknownhostsfile'))).toContain('my 100%');
});

describe('what a daemon tells', () => {
  test.each([
    [{ host: '127.0.0.1' }],
    [{ host: 'fd00::1%eth0' }],
    [{ host: 'svc.example.com', user: 'st_-x', hostKey: 'ssh-ed25519 AAAAC3Nz+/a=' }],
  ])('is taken: %p', (told) => expect(() => checkTold(told)).not.toThrow());

  test.each([
    [{ host: 'x\n  ProxyCommand touch /tmp/evil' }],
    [{ host: '-oProxyCommand=evil' }],
    [{ host: 'a b' }],
    [{ host: '' }],
    [{ user: '-oProxyCommand=evil' }],
    [{ user: 'x\nMatch exec evil' }],
    [{ hostKey: 'ssh-ed25519 AAAA\n* ssh-ed25519 BBBB' }],
  ])('is refused: %p', (told) => expect(() => checkTold(told)).toThrow('that is none'));
});
