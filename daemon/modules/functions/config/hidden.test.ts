import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { AppError } from '../../../../src/errors/app-error.ts';
import { hide, hideUrl, refuseMoved, reveal, secretHeader, secretParameter } from './hidden.ts';

const values = fc.dictionary(
  fc.constantFrom('authorization', 'accept', 'X-Key', 'token', 'units', 'appid'),
  fc.string().filter((text) => !text.startsWith('****')),
);

test('what was shown can be sent back, and is what it was', () => {
  for (const isSecret of [secretHeader, secretParameter])
    fc.assert(
      fc.property(values, (stored) => {
        expect(reveal(hide(stored, isSecret), stored, isSecret, 'headers').values).toEqual(stored);
        expect(reveal(undefined, stored, isSecret, 'headers').values).toEqual(stored);
      }),
    );
});

test('no more than the last four characters of a secret are shown', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 9 }), (secret) => {
      fc.pre(!/^[{$]/.test(secret));
      const shown = hide({ authorization: secret }, secretHeader).authorization ?? '';
      expect(shown.length).toBeLessThanOrEqual(8);
    }),
  );
  expect(hideUrl('https://a.test/x?code=0123456789&a=b')).toBe('https://a.test/x?code=****6789&a=****');
  expect(hide({ 'X-Id': '{user.id}', 'X-Path': '$.a' }, secretHeader)).toEqual({
    'X-Id': '{user.id}',
    'X-Path': '$.a',
  });
});

test('a mask of nothing is refused, and a kept secret goes to its own server alone', () => {
  const stored = { 'X-Key': 'abcdefghijkl' };
  expect(() => reveal({ 'X-Key': '****aaaa' }, stored, secretHeader, 'headers')).toThrow(AppError);
  expect(() => reveal({ Other: '****ijkl' }, stored, secretHeader, 'headers')).toThrow('headers.Other');
  const moved = (to: string, keeps: boolean) => () => refuseMoved('https://a.test/x', to, keeps, 'url');
  expect(moved('https://a.test/y', true)).not.toThrow();
  expect(moved('https://b.test/x', false)).not.toThrow();
  for (const to of ['https://b.test/x', 'http://a.test/x', 'https://a.test:8443/x', 'https://a.test.b.test/'])
    expect(moved(to, true)).toThrow('url');
});
