import { beforeEach, describe, expect, test } from 'bun:test';
import { EventEmitter } from 'node:events';
import { type AuthContext, type Connection, type ParsedKey, utils } from 'ssh2';
import type { Entry } from '../connections.ts';
import type { Door } from '../door.ts';
import { fingerprintOf } from '../public-key.ts';
import { Login } from './login.ts';

const TOKEN = `st_${'t'.repeat(43)}`;
const entry: Entry = { tenant: 'org_a', sandboxId: 'sbx_1', credential: { kind: 'key', id: 1, user: 'ada' } };

function newKey(): ParsedKey {
  const key = utils.parseKey(utils.generateKeyPairSync('ed25519').private);
  return key instanceof Error ? newKey() : key;
}

const key = newKey();

/** A connection on which somebody tries to log in. */
class Attempts {
  readonly connection = new EventEmitter();
  readonly entered: Entry[] = [];
  delays: number[] = [];
  gaveUp = 0;
  readonly login: Login;

  constructor() {
    const door = {
      byToken: (text: string, user?: string) =>
        text === TOKEN && (user ?? 'box') === 'box' ? entry : undefined,
      knowsKey: (fingerprint: string) => fingerprint === fingerprintOf(key.getPublicSSH()),
      byKey: (_: string, sandbox: string) => (sandbox === 'box' ? entry : undefined),
    } as unknown as Door;
    this.login = new Login(this.connection as unknown as Connection, {
      utils,
      door,
      failed: () => this.delays.push(1),
      giveUp: () => void this.gaveUp++,
      entered: (one) => void this.entered.push(one),
    });
  }

  /** What becomes of an attempt: `accepted`, the methods that are left, or nothing. */
  async try(context: Record<string, unknown>): Promise<unknown> {
    let answer: unknown;
    const attempt = {
      username: 'box',
      ...context,
      accept: () => {
        answer = 'accepted';
      },
      reject: (methods: unknown) => {
        answer = methods;
      },
    };
    this.connection.emit('authentication', attempt as unknown as AuthContext);
    await Bun.sleep(10);
    return answer;
  }
}

let attempts: Attempts;
beforeEach(() => {
  attempts = new Attempts();
});

const REFUSED = ['publickey', 'password'];
const wire = { algo: 'ssh-ed25519', data: key.getPublicSSH() };
const blob = Buffer.from('what is signed');
const signed = { method: 'publickey', key: wire, blob, signature: key.sign(blob) };

describe('somebody', () => {
  test.each([
    ['with the token as user name', { method: 'none', username: TOKEN }],
    ['with the token as user name and any password', { method: 'password', username: TOKEN, password: '' }],
    ['with the token as the password of its sandbox', { method: 'password', password: TOKEN }],
    ['with a signature of a key that may', signed],
  ])('%s gets in', async (_, context) => {
    expect(await attempts.try(context)).toBe('accepted');
    expect(attempts.entered).toEqual([entry]);
    expect(attempts.delays).toEqual([]);
  });

  test.each([
    ['with another token', { method: 'none', username: `st_${'x'.repeat(43)}` }],
    ['with a password', { method: 'password', password: 'secret' }],
    ['with the token of another sandbox', { method: 'password', username: 'other', password: TOKEN }],
    ['whose key may not enter that sandbox', { ...signed, username: 'nowhere' }],
    ['with a signature of something else', { ...signed, blob: Buffer.from('else') }],
    ['with a key that says another type', { ...signed, key: { ...wire, algo: 'ssh-rsa' } }],
    ['with a key that nobody knows', { ...signed, key: { ...wire, data: newKey().getPublicSSH() } }],
  ])('%s is refused in the same words, waits, and is counted', async (_, context) => {
    expect(await attempts.try(context)).toEqual(REFUSED);
    expect(attempts.delays).toHaveLength(1);
    expect(attempts.entered).toEqual([]);
    expect(attempts.login.hasTried).toBe(true);
  });

  test('who only asks what there is, is told and not counted', async () => {
    expect(await attempts.try({ method: 'none' })).toEqual(REFUSED);
    expect(await attempts.try({ method: 'keyboard-interactive' })).toEqual(REFUSED);
    expect(attempts.delays).toEqual([]);
    expect(attempts.login.hasTried).toBe(false);
  });

  test('who offers a key learns whether it is known, for any user name the same', async () => {
    const offer = (username: string, data: Buffer) =>
      attempts.try({ method: 'publickey', username, key: { ...wire, data } });
    expect([await offer('box', wire.data), await offer('nowhere', wire.data)]).toEqual([
      'accepted',
      'accepted',
    ]);
    const unknown = newKey().getPublicSSH();
    expect([await offer('box', unknown), await offer('nowhere', unknown)]).toEqual([REFUSED, REFUSED]);
    expect(attempts.entered).toEqual([]);
  });

  test('who goes on and on is cut off: after six wrong credentials, or thirty attempts of any kind', async () => {
    for (let i = 0; i < 6; i++) await attempts.try({ method: 'password', password: 'x' });
    expect(attempts.gaveUp).toBe(1);
    const patient = new Attempts();
    for (let i = 0; i < 31; i++) await patient.try({ method: 'none' });
    expect(patient.gaveUp).toBe(1);
  });

  test('who leaves while a refusal waits gets no answer any more', async () => {
    attempts.login.end();
    expect(await attempts.try({ method: 'none', username: TOKEN })).toBeUndefined();
    expect(attempts.entered).toEqual([]);
  });
});
