import { describe, expect, test } from 'bun:test';
import { seccompFilter } from './seccomp.ts';

describe('the filter of system calls', () => {
  const { syscalls, defaultAction } = seccompFilter('x64');
  const namesOf = (action: string) =>
    syscalls.filter((rule) => rule.action === action && !rule.args).flatMap(({ names }) => names);

  test('refuses what it does not know', () => {
    expect(defaultAction).toBe('SCMP_ACT_ERRNO');
  });

  test('says about each call one thing only', () => {
    const once = [...namesOf('SCMP_ACT_ALLOW'), ...namesOf('SCMP_ACT_ERRNO')];
    expect(once.filter((name, i) => once.indexOf(name) !== i)).toEqual([]);
    const conditional = syscalls.filter(({ args }) => args).flatMap(({ names }) => names);
    expect(conditional.filter((name) => once.includes(name))).toEqual([]);
  });

  test.each([
    'mount',
    'unshare',
    'setns',
    'bpf',
    'keyctl',
    'init_module',
    'kexec_load',
    'open_by_handle_at',
    'userfaultfd',
    'perf_event_open',
    'io_uring_setup',
    'pivot_root',
    'syslog',
    'iopl',
  ])('never allows %s', (name) => {
    expect(namesOf('SCMP_ACT_ALLOW')).not.toContain(name);
    expect(namesOf('SCMP_ACT_ERRNO')).toContain(name);
  });

  test('is of the one architecture of the machine', () => {
    expect(seccompFilter('x64').architectures).toEqual(['SCMP_ARCH_X86_64']);
    expect(seccompFilter('arm64').architectures).toEqual(['SCMP_ARCH_AARCH64']);
  });
});
