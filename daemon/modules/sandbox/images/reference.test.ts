import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseReference, registryUrl } from './reference.ts';

const SHA = `sha256:${'a'.repeat(64)}`;

describe('a reference', () => {
  test.each([
    ['debian', 'docker.io', 'library/debian', 'latest'],
    ['debian:12', 'docker.io', 'library/debian', '12'],
    ['team/app', 'docker.io', 'team/app', 'latest'],
    ['docker.io/debian', 'docker.io', 'library/debian', 'latest'],
    ['ghcr.example/team/app:v1.2', 'ghcr.example', 'team/app', 'v1.2'],
    ['localhost/app', 'localhost', 'app', 'latest'],
    ['localhost:5000/app:x', 'localhost:5000', 'app', 'x'],
    ['127.0.0.1:5000/a/b/c', '127.0.0.1:5000', 'a/b/c', 'latest'],
    [`registry.example/app@${SHA}`, 'registry.example', 'app', SHA],
    [`registry.example/app:v1@${SHA}`, 'registry.example', 'app', SHA],
  ])('%s is read', (text, registry, repository, target) => {
    expect(parseReference(text)).toEqual({ registry, repository, target });
  });

  test.each([
    '',
    'UPPER',
    'a b',
    '../etc',
    'registry.example/../x',
    'app:',
    'app@sha256:short',
    'a@b@c',
    'registry.example/',
    'host.example:99999999/app',
    'http://registry.example/app',
    '-x',
    'app:tag with space',
    'evil.example#/app',
    'user@host.example/app',
    '0x7f.1/app',
    '127.1:80/app',
  ])('%j is refused', (text) => {
    expect(parseReference(text)).toBeUndefined();
  });

  test('never leads to another host than the one it names', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab.:/@#?-_%\\ [0') }), (text) => {
        const reference = parseReference(text);
        if (!reference || reference.registry === 'docker.io') return;
        const url = new URL(`${registryUrl(reference.registry)}/v2/${reference.repository}/manifests/x`);
        expect(reference.registry.toLowerCase()).toStartWith(url.hostname);
        expect(url.pathname).toBe(`/v2/${reference.repository}/manifests/x`);
      }),
      { numRuns: 20_000 },
    );
  });

  test('is spoken to without TLS only on this machine', () => {
    expect(registryUrl('127.0.0.1:5000')).toBe('http://127.0.0.1:5000');
    expect(registryUrl('localhost')).toBe('http://localhost');
    expect(registryUrl('127.0.0.1.evil.example')).toBe('https://127.0.0.1.evil.example');
    expect(registryUrl('localhost.example')).toBe('https://localhost.example');
  });
});
