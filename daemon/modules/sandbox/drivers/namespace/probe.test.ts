import { describe, expect, test } from 'bun:test';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Probe } from '../driver.ts';
import { knownWeakness } from '../host/runtime.ts';
import { policyOf } from '../network/policy.ts';
import { createNamespaceDriver } from './index.ts';

const NOBODY = 65_534;

describe('the probe', () => {
  test.each([
    ['runc', '1.1.5', true],
    ['runc', '1.1.11', true],
    ['runc', '1.1.12', false],
    ['runc', '1.2.0', false],
    ['runc', '1.0', true],
    ['crun', '1.8.1', false],
  ] as const)('of %s %s tells of a hole that is known: %p', (name, version, weak) => {
    expect(knownWeakness({ name, version, path: '/x' }) !== undefined).toBe(weak);
  });

  test('of a name that could not be one says so, and every call is refused', async () => {
    const driver = await createNamespaceDriver({ dataDir: '/nonexistent', instance: '../x', log: () => {} });
    expect((await driver.probe()).usable).toBe(false);
    const spec = {
      id: 'a',
      image: 'host',
      env: {},
      limits: { cpu: 1, memoryMb: 1, pids: 1 },
      network: policyOf('deny'),
    } as const;
    expect(driver.create(spec)).rejects.toMatchObject({ code: 'runtime_missing' });
    expect(driver.exec('a', { id: 'b', argv: ['true'] })).rejects.toMatchObject({ code: 'runtime_missing' });
    expect(await driver.list()).toEqual([]);
    expect((await driver.inspect('a')).state).toBe('missing');
    expect(await driver.attach('a', 'b')).toBeUndefined();
    await driver.close();
  });

  test.skipIf(process.getuid?.() !== 0)(
    'for a user that is not root names what is missing, and does nothing',
    async () => {
      const dir = await mkdtemp(join(tmpdir(), 'svc-probe-'));
      await chmod(dir, 0o755);
      // A bundle and a copy of the runtime that everybody may read: the user may not enter the homes of others.
      const script = join(dir, 'probe.js');
      await Bun.write(join(dir, 'bun'), Bun.file(process.execPath));
      await chmod(join(dir, 'bun'), 0o755);
      const entry = `import { createNamespaceDriver } from ${JSON.stringify(join(import.meta.dir, 'index.ts'))};
      const driver = await createNamespaceDriver({ dataDir: ${JSON.stringify(join(dir, 'data'))}, instance: 'probe', log: () => {} });
      console.log(JSON.stringify(await driver.probe()));`;
      await Bun.write(join(dir, 'entry.ts'), entry);
      await Bun.build({
        entrypoints: [join(dir, 'entry.ts')],
        target: 'bun',
        outdir: dir,
        naming: 'probe.js',
      });
      const child = Bun.spawn([join(dir, 'bun'), script], {
        uid: NOBODY,
        gid: NOBODY,
        cwd: dir,
        stdout: 'pipe',
        env: { HOME: dir },
      } as Parameters<typeof Bun.spawn>[1]);
      const text = await new Response(child.stdout as ReadableStream).text();
      const probe = JSON.parse(text) as Probe;
      await rm(dir, { recursive: true });
      expect(probe.usable).toBe(false);
      const missing = probe.findings.find(({ status }) => status === 'missing');
      expect(missing).toMatchObject({ check: 'privileges' });
      expect(missing?.message).toContain('needs root');
      expect(probe.findings.map(({ check }) => check)).toEqual(
        expect.arrayContaining(['runtime', 'overlay', 'cgroup', 'userns', 'nftables', 'disk']),
      );
    },
  );
});
