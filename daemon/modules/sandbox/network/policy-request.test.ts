import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AppError } from '../../../../src/errors/app-error.ts';
import { CREDENTIAL_NETWORKS, NOWHERE_V4, PRIVATE_V4 } from '../../../../src/kit/networks.ts';
import { formatBlock, overlaps, parseBlock } from '../drivers/network/address.ts';
import { allowsName, parseHost } from '../drivers/network/host-names.ts';
import { isSamePolicy, isSealed, policyOf, readPolicy } from '../drivers/network/policy.ts';
import { type NetworkRequest, resolvePolicy, toNetwork } from './policy-request.ts';

const refusal = (request: NetworkRequest, allow: readonly string[] = []) => {
  try {
    resolvePolicy(request, allow);
    return undefined;
  } catch (error) {
    return error instanceof AppError ? error.violations.map(({ field }) => field) : error;
  }
};

describe('a policy', () => {
  test.each<[NetworkRequest, Partial<ReturnType<typeof resolvePolicy>>]>([
    [{}, { mode: 'allow' }],
    [{ networkMode: 'deny' }, { mode: 'deny' }],
    [{ networkMode: 'allow', networkBlockAll: true }, { mode: 'deny' }],
    [
      { networkBlockAll: true, networkAllowCidrs: ['8.8.8.0/24'] },
      { mode: 'deny', allowCidrs: ['8.8.8.0/24'] },
    ],
    [
      { networkAllowHosts: ['Example.com.', '*.test.dev'] },
      { mode: 'whitelist', allowHosts: ['example.com', '*.test.dev'] },
    ],
    [{ networkBlockAll: true, networkAllowHosts: ['@registries'] }, { mode: 'whitelist' }],
    [
      { networkBlockAll: true, networkMode: 'whitelist', networkAllowHosts: ['a.test'] },
      { mode: 'whitelist' },
    ],
  ])('of %j is %j', (request, expected) => {
    expect(resolvePolicy(request, [])).toMatchObject(expected);
  });

  test.each<[string, NetworkRequest, string[]]>([
    ['no network', { networkAllowCidrs: ['8.8.8.0/24', 'x'] }, ['networkAllowCidrs[1]']],
    ['an address alone', { networkAllowCidrs: ['8.8.8.8'] }, ['networkAllowCidrs[0]']],
    ['not the beginning of one', { networkAllowCidrs: ['8.8.8.1/24'] }, ['networkAllowCidrs[0]']],
    ['leading zeros', { networkAllowCidrs: ['008.8.8.0/24'] }, ['networkAllowCidrs[0]']],
    ['IPv6', { networkAllowCidrs: ['2001:db8::/32'] }, ['networkAllowCidrs[0]']],
    ['everything', { networkAllowCidrs: ['0.0.0.0/0'] }, ['networkAllowCidrs[0]']],
    ['a cloud’s credentials', { networkAllowCidrs: ['169.254.169.254/32'] }, ['networkAllowCidrs[0]']],
    ['what holds those', { networkAllowCidrs: ['168.0.0.0/8'] }, ['networkAllowCidrs[0]']],
    ['a private network', { networkAllowCidrs: ['10.0.0.0/8'] }, ['networkAllowCidrs[0]']],
    [
      'no name',
      { networkAllowHosts: ['a.test', 'a..test', '*'] },
      ['networkAllowHosts[1]', 'networkAllowHosts[2]'],
    ],
    ['an address as a name', { networkAllowHosts: ['8.8.8.8'] }, ['networkAllowHosts[0]']],
    ['localhost', { networkAllowHosts: ['a.localhost'] }, ['networkAllowHosts[0]']],
    ['an unknown preset', { networkAllowHosts: ['@everything'] }, ['networkAllowHosts[0]']],
    ['hosts of another mode', { networkMode: 'deny', networkAllowHosts: ['a.test'] }, ['networkAllowHosts']],
  ])('with %s is refused, and the entry is named', (_, request, fields) => {
    expect(refusal(request)).toEqual(fields);
  });

  test('opens private networks only inside those that the operator has listed, and credentials never', () => {
    const allow = ['printer.lan', '192.168.0.0/16', '10.1.2.3'];
    expect(refusal({ networkAllowCidrs: ['192.168.7.0/24', '10.1.2.3/32'] }, allow)).toBeUndefined();
    expect(refusal({ networkAllowCidrs: ['192.0.0.0/8'] }, allow)).toEqual(['networkAllowCidrs[0]']);
    expect(refusal({ networkAllowCidrs: ['169.254.169.254/32'] }, ['0.0.0.0/0'])).toEqual([
      'networkAllowCidrs[0]',
    ]);
  });

  test('never opens anything that is not public, whatever is asked for', () => {
    const closed = [...PRIVATE_V4, ...NOWHERE_V4, ...CREDENTIAL_NETWORKS].flatMap(
      (text) => parseBlock(text) ?? [],
    );
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, prefix) => {
        const block = parseBlock(`${address}/${prefix}`);
        if (!block || refusal({ networkAllowCidrs: [formatBlock(block)] })) return;
        expect(closed.some((other) => overlaps(other, block))).toBe(false);
      }),
    );
  });

  test('comes back as it was asked for', () => {
    const request = { networkMode: 'whitelist' as const, networkAllowHosts: ['a.test'] };
    expect(toNetwork(resolvePolicy(request, []))).toEqual({
      ...request,
      networkBlockAll: false,
      networkAllowCidrs: [],
    });
  });

  test('of an older record is read, and what cannot be read denies', () => {
    expect(readPolicy('allow')).toEqual(policyOf('allow'));
    for (const kept of ['deny', undefined, null, 7, {}, { mode: 'x' }])
      expect(isSealed(readPolicy(kept))).toBe(true);
    expect(isSamePolicy(policyOf('deny'), readPolicy({ mode: 'deny' }))).toBe(true);
  });
});

describe('a host of a whitelist', () => {
  const policy = { ...policyOf('whitelist'), allowHosts: ['a.test', '*.b.test', '@registries'] };

  test.each([
    ['a.test', true],
    ['x.a.test', false],
    ['b.test', false],
    ['x.b.test', true],
    ['y.x.b.test', true],
    ['xb.test', false],
    ['pypi.org', true],
    ['evil-pypi.org', false],
    ['a.test.evil', false],
  ])('%s is allowed: %p', (name, expected) => {
    expect(allowsName(policy, name)).toBe(expected);
  });

  test('that was read allows itself, or what is below it, and not what ends like it', () => {
    fc.assert(
      fc.property(fc.domain(), (domain) => {
        const host = parseHost(domain);
        if (!host) return;
        const only = { ...policyOf('whitelist'), allowHosts: [host] };
        const below = { ...policyOf('whitelist'), allowHosts: [`*.${host}`] };
        expect([allowsName(only, host), allowsName(only, `x${host}`), allowsName(only, `x.${host}`)]).toEqual(
          [true, false, false],
        );
        expect([
          allowsName(below, host),
          allowsName(below, `x${host}`),
          allowsName(below, `x.${host}`),
        ]).toEqual([false, false, true]);
      }),
    );
  });
});
