import { afterAll, describe, expect, test } from 'bun:test';
import { dockerdMissing, startDockerd } from '../../../../../test/support/dockerd.ts';
import { boxSpec, sh } from '../conformance/scene.ts';
import { createDockerDriver } from './index.ts';
import { isSafeRunc } from './probe.ts';

const skip = dockerdMissing();
const engine = skip ? undefined : await startDockerd();
afterAll(() => engine?.stop());

const base = { instance: 'probe', dataDir: '/nonexistent', log: () => {} };

describe('an engine that is not there', () => {
  const driver = createDockerDriver({ ...base, socketPath: '/nonexistent/docker.sock' });

  test('is a finding with the packages that bring it', async () => {
    const { usable, findings } = await driver.probe();
    expect(usable).toBe(false);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({
      check: 'engine',
      status: 'missing',
      packages: { apt: ['docker.io', 'iptables'] },
    });
    expect(findings[0]?.message).toContain('/nonexistent/docker.sock');
  });

  test('is an error of its own for every operation', async () => {
    const wanted = { code: 'runtime_missing' };
    await expect(driver.create(boxSpec('x'))).rejects.toMatchObject(wanted);
    await expect(driver.list()).rejects.toMatchObject(wanted);
    await expect(driver.inspect('sbx_1')).rejects.toMatchObject(wanted);
    await expect(driver.stop('sbx_1')).rejects.toMatchObject(wanted);
    await expect(driver.stats('sbx_1')).rejects.toMatchObject(wanted);
    await expect(driver.exec('sbx_1', sh('true'))).rejects.toMatchObject({ code: 'not_found' });
  });
});

test.each(['', 'A', 'a b', 'x'.repeat(33), '-a'])('%j is no name for an instance', (instance) => {
  expect(() => createDockerDriver({ ...base, instance })).toThrow(/instance/);
});

test.skipIf(skip !== undefined)('an engine is described part by part', async () => {
  const driver = createDockerDriver({ ...base, socketPath: engine?.socket, defaultImage: engine?.image });
  const { usable, findings } = await driver.probe();
  expect(usable).toBe(true);
  const byCheck = Object.fromEntries(findings.map(({ check, ...rest }) => [check, rest]));
  expect(Object.keys(byCheck)).toEqual([
    'engine',
    'runtime',
    'cgroup',
    'storage',
    'seccomp',
    'egress',
    'ports',
    'image',
  ]);
  expect(byCheck.engine?.message).toMatch(/^Docker \d+\.\d+/);
  expect(byCheck.runtime?.message).toMatch(/runc \d/);
  expect(byCheck.seccomp?.status).toBe('ok');
  expect(byCheck.image?.status).toBe('ok');
});

test.each([
  ['1.1.5+ds1', false],
  ['1.2.7', false],
  ['1.2.8', true],
  ['1.3.0', false],
  ['1.3.2', false],
  ['1.3.3', true],
  ['1.4.0', true],
  ['2.0', true],
])('runc %s is safe: %p', (version, isSafe) => {
  expect(isSafeRunc(version)).toBe(isSafe);
});
