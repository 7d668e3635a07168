import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../src/errors/app-error.ts';
import { Config, type Sources } from './config.ts';
import { writeYamlSetting } from './file.ts';

const dirs: string[] = [];
const newDir = () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-config-'));
  dirs.push(dir);
  return dir;
};
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
});

function configOf(yaml: string, sources: Sources = {}): Config {
  const dir = newDir();
  writeFileSync(join(dir, 'svc.yaml'), yaml);
  return new Config({ ...sources, flags: { 'data.dir': dir, ...sources.flags } });
}

describe('a setting', () => {
  const yaml = 'server:\n  port: 3\n';
  test.each([
    ['flag', { flags: { 'server.port': '1' }, env: { SVC_SERVER_PORT: '2' } }, 1],
    ['env', { env: { SVC_SERVER_PORT: '2' } }, 2],
    ['file', {}, 3],
  ] as const)('is taken from the %s before what is weaker', (origin, sources, value) => {
    const config = configOf(yaml, sources);
    config.loadDatabaseValues({ 'server.port': 4 });
    expect(config.resolve('server.port')).toMatchObject({ value, origin });
  });

  test('is taken from the database before its default', () => {
    const config = configOf('');
    expect(config.resolve('server.port')).toMatchObject({ value: 8089, origin: 'default' });
    config.loadDatabaseValues({ 'server.port': 4 });
    expect(config.resolve('server.port')).toMatchObject({ value: 4, origin: 'database' });
  });

  test('says which variable or file it came from', () => {
    expect(configOf('', { env: { SVC_ROOT_API_KEY: 's_x' } }).resolve('auth.root_api_key').detail).toBe(
      'SVC_ROOT_API_KEY',
    );
    expect(configOf(yaml).resolve('server.port').detail).toEndWith('svc.yaml');
  });
});

describe('a bad value is refused, naming the setting and where it stands', () => {
  test.each([
    ['server:\n  port: http\n', 'server.port', 'whole number'],
    ['server:\n  port: 70000\n', 'server.port', 'at most 65535'],
    ['log:\n  level: loud\n', 'log.level', 'debug, info, warn, error'],
    ['sandbox:\n  timeout: soon\n', 'sandbox.timeout', 'duration'],
    ['server:\n  prot: 1\n', 'server.prot', 'no such setting'],
  ])('%j', (yaml, field, words) => {
    const attempt = () => configOf(yaml);
    expect(attempt).toThrow(AppError);
    expect(attempt).toThrow(field);
    expect(attempt).toThrow(words);
    expect(attempt).toThrow('svc.yaml');
  });
});

test('durations are milliseconds and lists may be text with commas', () => {
  const config = configOf('sandbox:\n  timeout: 1h30m\n', {
    env: { SVC_SERVER_HOSTS: 'a.example, b.example' },
  });
  expect(config.get('sandbox.timeout')).toBe(5_400_000);
  expect(config.get('server.hosts')).toEqual(['a.example', 'b.example']);
});

test('the providers mapping stays whole beside its known parts', () => {
  const config = configOf(
    'providers:\n  openai:\n    base_url: http://10.0.0.1/v1\n  lab:\n    base_url: http://10.0.0.2/v1\n',
  );
  expect(config.get('providers')).toHaveProperty('lab.base_url', 'http://10.0.0.2/v1');
  expect(config.get('providers.openai.base_url')).toBe('http://10.0.0.1/v1');
});

test('writing a setting keeps the others and the file private', () => {
  const path = join(newDir(), 'svc.yaml');
  writeYamlSetting(path, 'server.port', 9000);
  writeYamlSetting(path, 'server.host', '0.0.0.0');
  expect(Bun.YAML.parse(readFileSync(path, 'utf8'))).toEqual({ server: { port: 9000, host: '0.0.0.0' } });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});
