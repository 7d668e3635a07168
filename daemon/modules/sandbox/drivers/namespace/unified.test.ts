import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { findGroups } from '../host/control-groups.ts';
import { whyUnusable } from './probe.ts';

/**
 * A host with cgroup v2 alone is played in a mount namespace where only the cgroup2 tree is mounted. Its tree
 * has no controllers here, so everything but limits is run: commands in groups of their own, killing, freezing.
 */
const PLAY = 'umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec "$@"';
const RULES =
  '(killing a command|a background command|a terminal|keeps its files|found by a new driver|fifty at once|hardly begun)';

const groups =
  whyUnusable('t') === undefined ? await findGroups('/nonexistent').catch(() => undefined) : undefined;

describe.skipIf(groups?.hybrid === undefined)('on a host with cgroup v2 alone', () => {
  test('commands start, are killed with their trees, and are found again', async () => {
    const suite = [process.execPath, 'test', join(import.meta.dir, 'index.test.ts'), '-t', RULES];
    const child = Bun.spawn(
      ['unshare', '--mount', '--propagation', 'private', '/bin/sh', '-c', PLAY, 'sh', ...suite],
      { stdout: 'pipe', stderr: 'pipe' },
    );
    const said = await new Response(child.stderr).text();
    expect([await child.exited, said.match(/\(fail\).*/g)]).toEqual([0, null]);
    expect(Number(/(\d+) pass/.exec(said)?.[1])).toBeGreaterThan(20);
  }, 120_000);
});
