import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../src/errors/app-error.ts';
import { ContextStore } from './contexts.ts';

let dir: string;
let store: ContextStore;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-cli-contexts-'));
  store = new ContextStore({ XDG_CONFIG_HOME: dir });
});

afterEach(() => rmSync(dir, { recursive: true }));

const file = (name: string) => join(dir, 'svc', name);

describe('ContextStore', () => {
  test('keeps addresses in config.yaml and credentials apart, readable by the owner alone', () => {
    store.save({ name: 'work', apiUrl: 'https://svc.example.com' });
    store.remember('work', { apiKey: 's_secret' });
    expect(Bun.YAML.parse(readFileSync(file('config.yaml'), 'utf8'))).toEqual({
      active_context: 'work',
      contexts: { work: { api_url: 'https://svc.example.com' } },
    });
    expect(JSON.parse(readFileSync(file('credentials'), 'utf8'))).toEqual({ work: { api_key: 's_secret' } });
    expect(statSync(file('credentials')).mode & 0o777).toBe(0o600);
    expect(readFileSync(file('config.yaml'), 'utf8')).not.toContain('s_secret');
  });

  test('narrows the mode of a credentials file that others could read', () => {
    store.remember('work', { apiKey: 'one' });
    writeFileSync(file('credentials'), '{}', { mode: 0o644 });
    store.remember('work', { apiKey: 'two' });
    expect(statSync(file('credentials')).mode & 0o777).toBe(0o600);
  });

  test('the first context is active, later ones when they are chosen', () => {
    store.save({ name: 'a', apiUrl: 'http://a' });
    store.save({ name: 'b', apiUrl: 'http://b' });
    expect(store.active()).toBe('a');
    store.use('b');
    expect(store.active()).toBe('b');
  });

  test('a removed context takes its credential and its place with it', () => {
    store.save({ name: 'a', apiUrl: 'http://a' });
    store.remember('a', { apiKey: 'k' });
    store.remove('a');
    expect(store.active()).toBeUndefined();
    expect(store.list()).toEqual([]);
    expect(store.credential('a')).toBeUndefined();
    expect(readFileSync(file('credentials'), 'utf8')).not.toContain('"k"');
  });

  test('what is not there is not found', () => {
    expect(() => store.use('nowhere')).toThrow(AppError);
    expect(() => store.remove('nowhere')).toThrow('There is no context "nowhere".');
  });

  test.each(['', '../x', 'a b', '-a', 'x'.repeat(65)])('%p is no name', (name) => {
    expect(() => store.save({ name, apiUrl: 'http://a' })).toThrow(AppError);
  });

  test('a broken file is named in the error', () => {
    store.save({ name: 'a', apiUrl: 'http://a' });
    writeFileSync(file('credentials'), 'not json');
    expect(() => store.credential('a')).toThrow(file('credentials'));
    writeFileSync(file('config.yaml'), 'a: [b');
    expect(() => store.list()).toThrow(file('config.yaml'));
  });
});
