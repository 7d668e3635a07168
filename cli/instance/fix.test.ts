import { describe, expect, test } from 'bun:test';
import { fixCommands, type PackageHost, runFix } from './fix.ts';
import type { Finding } from './load.ts';

const findings: readonly Finding[] = [
  {
    check: 'runtime',
    status: 'missing',
    message: '',
    packages: { apt: ['crun'], dnf: ['crun'], apk: ['crun'] },
  },
  { check: 'nftables', status: 'degraded', message: '', packages: { apt: ['nftables', 'crun'] } },
  { check: 'seccomp', status: 'ok', message: '', packages: { apt: ['never'] } },
  { check: 'cgroup', status: 'missing', message: '' },
];

function host(programs: readonly string[], isRoot = true): PackageHost {
  return { isRoot, has: (program) => programs.includes(program) };
}

describe('fixCommands', () => {
  const cases: Array<[name: string, host: PackageHost, commands: string[]]> = [
    [
      'apt',
      host(['apt-get']),
      ['apt-get update', 'apt-get install -y --no-install-recommends crun nftables'],
    ],
    ['dnf', host(['dnf']), ['dnf install -y crun']],
    ['apk', host(['apk']), ['apk add crun']],
    ['sudo', host(['apk', 'sudo'], false), ['sudo apk add crun']],
    ['no package manager', host([]), []],
  ];
  test.each(cases)('%s', (_, on, commands) => {
    expect(fixCommands(findings, on).map((command) => command.join(' '))).toEqual(commands);
  });

  test('what packages cannot mend has commands of its own, after them', () => {
    const off: Finding = {
      check: 'ip_forward',
      status: 'degraded',
      message: '',
      commands: [['sysctl', '-w', 'x=1']],
    };
    const commands = fixCommands([...findings, off], host(['apk', 'sudo'], false));
    expect(commands.map((command) => command.join(' '))).toEqual(['sudo apk add crun', 'sudo sysctl -w x=1']);
    expect(fixCommands([{ ...off, status: 'ok' }], host(['apk']))).toEqual([]);
  });

  test('nothing missing is nothing to do', () => {
    expect(fixCommands([{ check: 'x', status: 'ok', message: '' }], host(['apt-get']))).toEqual([]);
  });

  test('a person who may not install is told the command', () => {
    expect(() => fixCommands(findings, host(['dnf'], false))).toThrow('dnf install -y crun');
  });
});

describe('runFix', () => {
  test('shows both streams line by line', async () => {
    const lines: string[] = [];
    await runFix(['sh', '-c', 'printf "a\\nb"; echo c >&2'], (line) => lines.push(line));
    expect(lines.toSorted()).toEqual(['a', 'b', 'c']);
  });

  test('a failure carries the exit code and the last words', async () => {
    const failed = runFix(['sh', '-c', 'echo no such package >&2; exit 9'], () => undefined);
    await expect(failed).rejects.toThrow(/ended with 9: no such package/);
  });
});
