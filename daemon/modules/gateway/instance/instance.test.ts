import { beforeEach, describe, expect, test } from 'bun:test';
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { AppError } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import { openTestApp } from '../../../testing/app.ts';
import { CallbackSecret } from './callback-secret.ts';
import { InstanceService } from './service.ts';
import { LicenseStore } from './store.ts';
import { StatementVerifier } from './verifier.ts';
import { toStatus } from './wire.ts';

const issuer = generateKeyPairSync('ed25519');
const pem = issuer.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const DAY = 86_400;
const now = 1_900_000_000;
const clock = { ms: 0, now: () => clock.ms };
const owner: Caller = { tenant: 'org_own', role: 'owner', actor: 'usr_1', via: 'cookie' };

let app: App;
let service: InstanceService;

function open(flags: Readonly<Record<string, string>> = {}): void {
  clock.ms = now * 1000;
  app = openTestApp(clock, {
    'license.public_key': pem,
    'license.callback_secret': 'a secret of the control plane',
    ...flags,
  });
  const verifier = new StatementVerifier(app, 'inst_1');
  const secret = new CallbackSecret(app.config);
  service = new InstanceService(app, new LicenseStore(app.db), verifier, secret, {
    id: 'inst_1',
    tenant: 'org_own',
  });
}

beforeEach(() => open());

let made = 0;

/** A statement of a licence; `claims` go over the usual ones. */
function sign(
  claims: Readonly<Record<string, unknown>> = {},
  key: KeyObject | Uint8Array = issuer.privateKey,
  alg = 'EdDSA',
): Promise<string> {
  const usual = {
    purpose: 'activation',
    plan_tier: 'pro',
    aud: 'inst_1',
    jti: `j${made++}`,
    iat: now,
    exp: now + DAY,
  };
  const all = Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined);
  return new SignJWT(Object.fromEntries(all)).setProtectedHeader({ alg }).sign(key);
}

const activation = (claims: object = {}) => sign({ purpose: 'activation_callback', ...claims });
const subscription = (claims: object = {}) => sign({ purpose: 'subscription_status', ...claims });
const paid = async (text: Promise<string>) =>
  service.activatedElsewhere(await text, 'a secret of the control plane');
const changed = async (text: Promise<string>) => service.subscriptionChanged(await text);
const activate = async (text: Promise<string>, more = {}, caller = owner) =>
  service.activate(caller, { activationToken: await text, ...more });

async function refusal(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof AppError) return error;
  throw error ?? new Error('it was not refused');
}

const audited = () =>
  app.db.raw.query<{ n: number }, []>('SELECT count(*) AS n FROM audit_log').get()?.n ?? -1;

describe('an instance without a licence', () => {
  test('is inactive and free, with everything on and no limit', () => {
    const status = toStatus(service.licensing(), 'org_own');
    expect(status).toMatchObject({ status: 'inactive', activated: false, instanceId: 'inst_1' });
    expect(status.licenseState).toMatchObject({
      planTier: 'LICENSE_TYPE_FREE',
      status: 'LICENSE_STATUS_INACTIVE',
      tenantId: 'org_own',
    });
    expect(status.licenseState?.features?.every(({ enabled }) => enabled)).toBe(true);
    expect(status.licenseState?.usageLimits?.every(({ value }) => value === '-1')).toBe(true);
  });

  test('is the only gateway there is', async () => {
    expect([service.requireGateway('inst_1'), service.requireGateway('default')]).toEqual([
      'inst_1',
      'inst_1',
    ]);
    expect(await refusal((async () => service.requireGateway('inst_2'))())).toMatchObject({ http: 404 });
  });
});

describe('an activation', () => {
  test('makes it active until the licence and its grace have ended, and locks nothing then', async () => {
    const claims = { expires_at: now + 10 * DAY, grace_period_secs: DAY, features: { SSO: true } };
    const { row } = await activate(sign({ ...claims, usage_limits: { requests: 500 } }));
    expect(row).toMatchObject({ planTier: 'pro', activatedAt: now * 1000 });
    const status = toStatus(service.licensing(), undefined);
    expect(status).toMatchObject({ status: 'active', activated: true });
    expect(status.licenseState?.tenantId).toBeUndefined();
    expect(status.licenseState?.features).toContainEqual({ name: 'SSO', enabled: true });
    expect(status.licenseState?.usageLimits?.[0]).toEqual({
      type: 'USAGE_LIMITS_TYPE_REQUESTS',
      value: '500',
    });
    clock.ms = (now + 10.5 * DAY) * 1000;
    expect(service.licensing().standing).toBe('active');
    clock.ms = (now + 12 * DAY) * 1000;
    const ended = toStatus(service.licensing(), 'org_own');
    expect(ended).toMatchObject({ status: 'inactive', licenseState: { status: 'LICENSE_STATUS_EXPIRED' } });
    expect(ended.licenseState?.features?.every(({ enabled }) => enabled)).toBe(true);
  });

  test('is written with who did it, and without the token', async () => {
    const token = await sign();
    await activate(Promise.resolve(token));
    const rows = app.db.raw.query('SELECT actor, action, target, details FROM audit_log').all();
    expect(rows).toMatchObject([{ actor: 'usr_1', action: 'license.activation', target: 'inst_1' }]);
    for (const table of ['audit_log', 'instance_license', 'license_statements'])
      expect(JSON.stringify(app.db.raw.query(`SELECT * FROM ${table}`).all())).not.toContain(
        token.slice(-40),
      );
  });

  test('works once', async () => {
    const token = sign();
    await activate(token);
    expect(await refusal(activate(token))).toMatchObject({
      http: 409,
      message: expect.stringContaining('before'),
    });
    expect(audited()).toBe(1);
  });

  test('older than what is in force is refused: a kept token does not undo a cancellation', async () => {
    await activate(sign());
    await changed(subscription({ status: 'cancelled', iat: now + 50 }));
    const error = await refusal(activate(sign({ iat: now + 10 })));
    expect(error).toMatchObject({ http: 409, message: expect.stringContaining('older') });
    expect(service.licensing().standing).toBe('cancelled');
  });

  test('is not for owners of other organizations', async () => {
    const other = { ...owner, tenant: 'org_other' };
    expect(await refusal(activate(sign(), {}, other))).toMatchObject({ code: 'instance_only', http: 403 });
  });

  test('checks the device when the token names one', async () => {
    const token = () => sign({ device_fingerprint_hash: 'abc' });
    for (const deviceFingerprintHash of ['', 'abd', undefined]) {
      const error = await refusal(activate(token(), { deviceFingerprintHash }));
      expect(error.violations[0]?.field).toBe('deviceFingerprintHash');
    }
    const { row } = await activate(token(), { deviceFingerprintHash: 'abc' });
    expect(row?.deviceFingerprintHash).toBe('abc');
  });

  test.each([
    ['nothing', '', 'activationToken'],
    ['no JWT', 'abc', 'activationToken'],
  ])('of %s is 400', async (_, activationToken, field) => {
    expect((await refusal(service.activate(owner, { activationToken }))).violations[0]?.field).toBe(field);
  });

  test('for another instance by its body is 400', async () => {
    const error = await refusal(activate(sign(), { instanceId: 'inst_2' }));
    expect(error.violations[0]?.field).toBe('instanceId');
    await activate(sign(), { instanceId: 'inst_1' });
  });

  test('of a licence that has ended is 400', async () => {
    const error = await refusal(activate(sign({ expires_at: now - 1 })));
    expect(error.violations[0]).toMatchObject({ field: 'activationToken' });
  });
});

describe('a statement is refused, changing nothing', () => {
  const other = generateKeyPairSync('ed25519').privateKey;
  const cases: ReadonlyArray<readonly [string, () => Promise<string>, string]> = [
    ['signed by another key', () => sign({}, other), 'signature'],
    [
      'signed with the public key as a secret',
      () => sign({}, new TextEncoder().encode(pem), 'HS256'),
      'algorithm',
    ],
    ['without a signature', async () => `${btoa('{"alg":"none"}')}.${(await sign()).split('.')[1]}.`, ''],
    ['for another instance', () => sign({ aud: 'inst_2' }), 'another instance'],
    ['for none', () => sign({ aud: undefined }), 'another instance'],
    ['that has expired', () => sign({ iat: now - DAY, exp: now - 1 }), 'expired'],
    ['of the future', () => sign({ iat: now + 120 }), 'future'],
    ['that is good for too long', () => sign({ exp: now + 32 * DAY }), '31 days'],
    ['without an end', () => sign({ exp: undefined }), 'exp'],
    ['without an id', () => sign({ jti: undefined }), 'jti'],
    ['without a time', () => sign({ iat: undefined }), 'iat'],
    ['for another purpose', () => sign({ purpose: 'subscription_status' }), 'purpose'],
    ['without a purpose', () => sign({ purpose: undefined }), 'purpose'],
    ['of an unknown plan', () => sign({ plan_tier: 'gold' }), 'plan_tier'],
    ['of an unknown status', () => sign({ status: 'fine' }), 'status'],
    ['with features that are no flags', () => sign({ features: { A: 'yes' } }), 'features'],
    ['with limits that nobody knows', () => sign({ usage_limits: { moons: 1 } }), 'usage_limits'],
    ['with an end that is no time', () => sign({ expires_at: 'soon' }), 'expires_at'],
  ];

  test.each(cases)('%s', async (_, make, why) => {
    const error = await refusal(activate(make()));
    expect(error).toMatchObject({ http: 400, message: expect.stringContaining(why) });
    expect([service.licensing().row, audited()]).toEqual([undefined, 0]);
  });

  test('a byte of it changed', async () => {
    const token = await sign();
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 2), fc.constantFrom('A', 'z', '.', '-'), async (at, letter) => {
        const changedToken = token.slice(0, at) + letter + token.slice(at + 1);
        if (changedToken !== token)
          expect((await refusal(activate(Promise.resolve(changedToken)))).http).toBe(400);
      }),
      { numRuns: 60 },
    );
    expect(service.licensing().row).toBeUndefined();
  });
});

describe('a callback', () => {
  test('activates with the secret and the signature, and again without changing anything', async () => {
    const text = activation();
    expect(await paid(text)).toBe('applied');
    expect(await paid(text)).toBe('repeated');
    expect([service.licensing().standing, audited()]).toEqual(['active', 1]);
  });

  test.each([undefined, '', 'another secret'])('with the secret %p is 401', async (secret) => {
    expect(await refusal(service.activatedElsewhere(await activation(), secret))).toMatchObject({
      http: 401,
    });
    expect(service.licensing().row).toBeUndefined();
  });

  test('with a bad signature, or made for something else, is 401', async () => {
    for (const text of [sign(), Promise.resolve('x'), sign({ purpose: 'activation_callback', aud: 'x' })])
      expect(await refusal(paid(text))).toMatchObject({ code: 'bad_statement', http: 401 });
    expect(await refusal(changed(activation()))).toMatchObject({ http: 401 });
  });

  test('whose id another statement has used is 401', async () => {
    await changed(subscription({ jti: 'one', status: 'active' }));
    expect(await refusal(changed(subscription({ jti: 'one', status: 'cancelled' })))).toMatchObject({
      http: 401,
    });
    expect(service.licensing().row?.status).toBe('active');
  });

  test('the secret may be configured as its hash', async () => {
    const hash = createHash('sha256').update('a secret of the control plane').digest('hex');
    open({ 'license.callback_secret': `sha256:${hash}` });
    expect(await paid(activation())).toBe('applied');
    expect(() => open({ 'license.callback_secret': 'sha256:12' })).toThrow('license.callback_secret');
  });

  test('of the subscription alone does not activate', async () => {
    await changed(subscription());
    expect(service.licensing().standing).toBe('inactive');
    await paid(activation({ iat: now - 5 }));
    expect(service.licensing().standing).toBe('active');
  });

  test('in any order leads to the newest plan', async () => {
    const plans = ['free', 'basic', 'pro', 'enterprise'];
    const order = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(order, async (times) => {
        open();
        for (const at of times)
          await (at === 0 ? paid : changed)(
            (at === 0 ? activation : subscription)({ iat: now - 10 + at, plan_tier: plans[at] }),
          );
        expect(service.licensing()).toMatchObject({ standing: 'active', row: { planTier: 'enterprise' } });
      }),
      { numRuns: 12 },
    );
  });

  test('that has expired is forgotten, and refused for that', async () => {
    const text = subscription({ exp: now + 10 });
    await changed(text);
    clock.ms += 20_000;
    await changed(subscription());
    const { n } =
      app.db.raw.query<{ n: number }, []>('SELECT count(*) AS n FROM license_statements').get() ?? {};
    expect(n).toBe(1);
    expect(await refusal(changed(text))).toMatchObject({ http: 401 });
  });
});

describe('the key', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  test('may be a JWK, or PEM in one line', async () => {
    open({ 'license.public_key': JSON.stringify(publicKey.export({ format: 'jwk' })) });
    await activate(sign({}, privateKey, 'ES256'));
    open({ 'license.public_key': pem.replaceAll('\n', '\\n') });
    await activate(sign());
  });

  test('may be a shared secret, which counts only without a public key', async () => {
    const secret = 'x'.repeat(32);
    const bytes = new TextEncoder().encode(secret);
    open({ 'license.public_key': '', 'license.secret': secret });
    await activate(sign({}, bytes, 'HS256'));
    open({ 'license.secret': secret });
    expect(await refusal(activate(sign({}, bytes, 'HS256')))).toMatchObject({ http: 400 });
  });

  test('missing means not configured, never success', async () => {
    open({ 'license.public_key': '' });
    const ways = [() => activate(sign()), () => paid(activation()), () => changed(subscription())];
    for (const work of ways) expect(await refusal(work())).toMatchObject({ code: 'not_configured' });
    open({ 'license.callback_secret': '' });
    expect(await refusal(paid(activation()))).toMatchObject({ code: 'not_configured' });
  });

  test.each([
    ['license.public_key', 'no key'],
    ['license.public_key', '{"kty":"oct","k":"aaaa"}'],
    ['license.secret', 'short'],
  ])('%s %p keeps the instance from starting', (setting, value) => {
    expect(() => open({ 'license.public_key': '', [setting]: value })).toThrow(setting);
  });
});
