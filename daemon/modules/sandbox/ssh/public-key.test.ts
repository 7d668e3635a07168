import { describe, expect, test } from 'bun:test';
import { utils } from 'ssh2';
import { readPublicKey } from './public-key.ts';

const MAKERS = {
  ed25519: () => utils.generateKeyPairSync('ed25519'),
  nistp256: () => utils.generateKeyPairSync('ecdsa', { bits: 256 }),
  nistp521: () => utils.generateKeyPairSync('ecdsa', { bits: 521 }),
  rsa1024: () => utils.generateKeyPairSync('rsa', { bits: 1024 }),
  rsa2048: () => utils.generateKeyPairSync('rsa', { bits: 2048 }),
} as const;

/** The public line of a new key. About one of 200 that the library makes cannot be read: then another one. */
function line(kind: keyof typeof MAKERS): string {
  const { public: text } = MAKERS[kind]();
  return utils.parseKey(text) instanceof Error ? line(kind) : text;
}

/** A key line of any fields. */
function forged(type: string, ...fields: Uint8Array[]): string {
  const parts = [Buffer.from(type), ...fields].flatMap((field) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(field.length);
    return [length, field];
  });
  return `${type} ${Buffer.concat(parts).toString('base64')}`;
}

const refusal = (text: string | undefined) =>
  readPublicKey(text).then(
    () => undefined,
    (error: { violations: Array<{ field: string; description: string }> }) => error.violations[0],
  );

describe('a public key', () => {
  test.each([
    ['ssh-ed25519', line('ed25519')],
    ['ecdsa-sha2-nistp256', line('nistp256')],
    ['ecdsa-sha2-nistp521', line('nistp521')],
    ['ssh-rsa', line('rsa2048')],
  ])('of the type %s is read, with its comment', async (type, text) => {
    const key = await readPublicKey(`  ${text} ada@laptop \n`);
    expect(key).toMatchObject({ type, comment: 'ada@laptop' });
    expect(key.fingerprint).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
  });

  test('has the fingerprint that ssh-keygen prints', async () => {
    const text = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHKI84q8hy968RtrRVhHdQFiI1tbStUhS4ByK0KflgyS';
    const { stdout } = Bun.spawnSync(['ssh-keygen', '-lf', '/dev/stdin'], { stdin: Buffer.from(text) });
    expect(stdout.toString()).toContain((await readPublicKey(text)).fingerprint);
  });

  const [type = '', base64 = ''] = line('ed25519').split(' ');
  test.each([
    ['nothing', undefined, 'required'],
    ['blanks', ' \n ', 'required'],
    ['words', 'not a key at all', 'type'],
    ['no base64', `${type} ????`, 'not a public key'],
    ['another type than it says', `ecdsa-sha2-nistp256 ${base64}`, 'malformed'],
    ['half of it', `${type} ${base64.slice(0, 40)}`, 'malformed'],
    [
      'more than it',
      `${type} ${Buffer.concat([Buffer.from(base64, 'base64'), Buffer.from('x')]).toString('base64')}`,
      'malformed',
    ],
    ['two lines', `${type} ${base64}\n${type} ${base64}`, 'one line'],
    ['options before it', `command="rm -rf /" ${type} ${base64}`, 'not a public key'],
    [
      'DSA',
      forged(
        'ssh-dss',
        Buffer.alloc(129, 1),
        Buffer.alloc(21, 1),
        Buffer.alloc(128, 1),
        Buffer.alloc(128, 1),
      ),
      'type ssh-dss',
    ],
    ['a certificate', `ssh-ed25519-cert-v01@openssh.com ${base64}`, 'type ssh-ed25519-cert'],
    ['RSA of 1024 bits', line('rsa1024'), '1024 bits'],
    [
      'a point on no curve',
      forged(
        'ecdsa-sha2-nistp256',
        Buffer.from('nistp256'),
        Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]),
      ),
      'malformed',
    ],
    ['far too much', `${type} ${'A'.repeat(20_000)}`, 'one line'],
  ])('that is %s is refused, naming the field', async (_, text, words) => {
    const found = await refusal(text);
    expect(found?.field).toBe('publicKey');
    expect(found?.description).toContain(words);
  });

  test('that is a private key is refused without repeating it', async () => {
    const { private: secret } = utils.generateKeyPairSync('ed25519');
    const found = await refusal(secret);
    expect(found?.description).toContain('private key');
    expect(found?.description).not.toContain('b3BlbnNzaC');
  });
});
