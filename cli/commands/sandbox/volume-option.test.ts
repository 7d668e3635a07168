import { expect, test } from 'bun:test';
import { volumes } from './volume-option.ts';

test.each([
  ['data:/data', { bucket: 'data', mountPath: '/data' }],
  ['data/models/new:/m', { bucket: 'data', subpath: 'models/new', mountPath: '/m' }],
  ['vol_1:/a/b', { bucket: 'vol_1', mountPath: '/a/b' }],
])('%s', (text, expected) => expect(volumes(text)).toEqual([{ type: 'svc-volume', ...expected }]));

test('several are collected', () =>
  expect(volumes('b:/b', volumes('a:/a')).map(({ bucket }) => bucket)).toEqual(['a', 'b']));

test.each(['data', 'data:', ':/data', 'data:relative', '', '/data:/x'])('%j is refused', (text) =>
  expect(() => volumes(text)).toThrow('NAME:/path'),
);
