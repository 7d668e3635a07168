import { describe, expect, test } from 'bun:test';
import type { Finding } from './load.ts';
import { installCommands, type PackageHost, runInstall } from './packages.ts';

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

describe('installCommands', () => {
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
    expect(installCommands(findings, on).map((command) => command.join(' '))).toEqual(commands);
  });

  test('nothing missing is nothing to do', () => {
    expect(installCommands([{ check: 'x', status: 'ok', message: '' }], host(['apt-get']))).toEqual([]);
  });

  test('a person who may not install is told the command', () => {
    expect(() => installCommands(findings, host(['dnf'], false))).toThrow('dnf install -y crun');
  });
});

describe('runInstall', () => {
  test('shows both streams line by line', async () => {
    const lines: string[] = [];
    await runInstall(['sh', '-c', 'printf "a\\nb"; echo c >&2'], (line) => lines.push(line));
    expect(lines.toSorted()).toEqual(['a', 'b', 'c']);
  });

  test('a failure carries the exit code and the last words', async () => {
    const failed = runInstall(['sh', '-c', 'echo no such package >&2; exit 9'], () => undefined);
    await expect(failed).rejects.toThrow(/ended with 9: no such package/);
  });
});
