import { describe, expect, test } from 'bun:test';
import { finish, run, type Scene, sh, withBox } from './scene.ts';
import { syscallProgram } from './syscall-program.ts';

/** What root inside a box has at most: the set that container engines grant by default. */
const ROOT_CAPABILITIES = 0xa80425fbn;
const EPERM = 1;
const ENOSYS = 38;

const REFUSED: ReadonlyArray<[name: string, x64: number, arm64: number]> = [
  ['unshare', 272, 97],
  ['setns', 308, 268],
  ['mount', 165, 40],
  ['umount2', 166, 39],
  ['pivot_root', 155, 41],
  ['open_tree', 428, 428],
  ['move_mount', 429, 429],
  ['fsopen', 430, 430],
  ['mount_setattr', 442, 442],
  ['keyctl', 250, 219],
  ['add_key', 248, 217],
  ['request_key', 249, 218],
  ['bpf', 321, 280],
  ['perf_event_open', 298, 241],
  ['userfaultfd', 323, 282],
  ['init_module', 175, 105],
  ['kexec_load', 246, 104],
  ['reboot', 169, 142],
  ['swapon', 167, 224],
  ['open_by_handle_at', 304, 265],
  ['acct', 163, 89],
  ['settimeofday', 164, 170],
  ['io_uring_setup', 425, 425],
];

/** What a box keeps from its inmates, for the first command and for every later one. */
export function securityRules(scene: Scene): void {
  describe.each([
    ['its user', 1000],
    ['its root', 0],
  ])('a command of %s', (_, uid) => {
    test('cannot gain privileges, is filtered and has few capabilities', async () => {
      const { stdout } = await run(scene, 'cat /proc/self/status', { uid });
      const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(stdout)?.[1] ?? '';
      expect(field('NoNewPrivs')).toBe('1');
      expect(field('Seccomp')).toBe('2');
      const allowed = uid === 0 ? ROOT_CAPABILITIES : 0n;
      for (const set of ['CapEff', 'CapPrm', 'CapInh', 'CapAmb'])
        expect([set, BigInt(`0x${field(set)}`) & ~allowed]).toEqual([set, 0n]);
      expect(BigInt(`0x${field('CapBnd')}`) & ~ROOT_CAPABILITIES).toBe(0n);
    });

    test('may not call what would lead out', async () => {
      const refused: Record<string, number> = {};
      for (const [name, x64, arm64] of REFUSED) {
        const program = syscallProgram(process.arch === 'arm64' ? arm64 : x64);
        const upload = await scene.driver.exec(
          scene.box,
          sh('cat >/workspace/call && chmod 755 /workspace/call && /workspace/call', { stdin: true, uid }),
        );
        const result = finish(upload);
        await upload.write(program);
        await upload.endInput();
        refused[name] = (await result).exit.code;
        await run(scene, 'rm -f /workspace/call', { uid });
      }
      expect(Object.entries(refused).filter(([, code]) => code !== EPERM && code !== ENOSYS)).toEqual([]);
    });

    test('cannot mount, unshare or make a device', async () => {
      for (const script of [
        'mount -t tmpfs none /mnt',
        'unshare -r true',
        'unshare -m true',
        'rm -f /tmp/dev; mknod /tmp/dev b 254 0 && head -c 1 /tmp/dev',
      ]) {
        const { exit } = await run(scene, script, { uid });
        expect([script, exit.code === 0]).toEqual([script, false]);
      }
    });

    test('cannot write where the kernel listens', async () => {
      for (const path of [
        '/proc/sys/kernel/core_pattern',
        '/proc/sys/kernel/hostname',
        '/proc/sysrq-trigger',
        '/sys/kernel/uevent_helper',
        '/sys/fs/cgroup/cgroup.procs',
        '/proc/1/oom_score_adj',
      ]) {
        const { exit } = await run(scene, `[ -e ${path} ] && echo -900 >${path}`, { uid });
        expect([path, exit.code === 0]).toEqual([path, false]);
      }
    });

    test('reads nothing of the kernel’s secrets', async () => {
      for (const path of ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/kmsg']) {
        const { stdout } = await run(scene, `head -c 64 ${path} 2>/dev/null || true`, { uid });
        expect([path, stdout]).toEqual([path, '']);
      }
    });

    test('sees no process but those of its box', async () => {
      const { stdout } = await run(
        scene,
        'ls -d /proc/[0-9]* | wc -l; cat /proc/[0-9]*/cmdline | tr "\\0" " "',
        {
          uid,
        },
      );
      expect(Number(stdout.split('\n')[0])).toBeLessThan(20);
      expect(stdout).not.toContain('bun');
      const kill = await run(scene, `kill -0 ${process.pid}`, { uid });
      expect(kill.exit.code).not.toBe(0);
    });
  });

  describe('a box without a network', () => {
    test('has loopback, which works, and nothing else', async () => {
      await withBox(scene, { network: 'deny' }, async (id) => {
        const { stdout } = await run(
          scene,
          'tail -n +3 /proc/net/dev | cut -d: -f1; tail -n +2 /proc/net/route',
          {},
          id,
        );
        expect(stdout.trim()).toBe('lo');
      });
    });
  });
}
