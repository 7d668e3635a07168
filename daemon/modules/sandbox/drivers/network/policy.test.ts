import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../host/run.ts';
import { whyUnusable } from '../namespace/probe.ts';
import { type NetworkLab, openNetworkLab } from '../namespace/testing/network-lab.ts';
import type { PolicyReport } from '../namespace/testing/policy-scenario.ts';

const missing =
  whyUnusable('t') ?? ['nft', 'ip', 'perl', 'bash', 'getent'].find((name) => !findProgram(name));

const CLOSED = {
  internetAddress: 'refused',
  elsewhere: 'refused',
  lan: 'refused',
  metadata: 'refused',
  host: 'refused',
  resolver: 'refused',
  localhost: '127.0.0.1',
};
const NO_NAMES = { internet: '', alias: '', rebind: '', stray: '', nowhere: '' };

describe.skipIf(missing !== undefined)(`a policy${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let lab: NetworkLab | undefined;
  let dir = '';
  let report: PolicyReport;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-policy-'));
    await chmod(dir, 0o700);
    lab = await openNetworkLab();
    const script = join(import.meta.dir, '../namespace/testing/policy-scenario.ts');
    const text = await lab.runOnHost(script, {
      dataDir: dir,
      instance: `pol${crypto.randomUUID().slice(0, 6)}`,
    });
    report = JSON.parse(text) as PolicyReport;
  }, 120_000);
  afterAll(async () => {
    await lab?.close();
    await rm(dir, { recursive: true, force: true });
  }, 60_000);

  test.each<[string, Readonly<Record<string, string>>]>([
    [
      'allow',
      {
        ...CLOSED,
        internet: '8.9.10.11',
        alias: '8.9.10.12',
        rebind: '8.9.10.11',
        stray: '8.9.10.11',
        nowhere: '',
        internetAddress: 'hello',
        elsewhere: 'hello',
      },
    ],
    [
      'whitelist of a name',
      {
        ...CLOSED,
        ...NO_NAMES,
        internet: '8.9.10.11',
        rebind: '8.9.10.11',
        stray: '8.9.10.11',
        internetAddress: 'hello',
      },
    ],
    ['whitelist of an alias', { ...CLOSED, ...NO_NAMES, alias: '8.9.10.12', elsewhere: 'hello' }],
    [
      'whitelist of all below a name',
      {
        ...CLOSED,
        internet: '8.9.10.11',
        alias: '8.9.10.12',
        rebind: '8.9.10.11',
        stray: '8.9.10.11',
        nowhere: '',
        internetAddress: 'hello',
        elsewhere: 'hello',
      },
    ],
    ['whitelist of nothing', { ...CLOSED, ...NO_NAMES }],
    ['deny', { ...CLOSED, ...NO_NAMES }],
    ['deny with a network', { ...CLOSED, ...NO_NAMES, elsewhere: 'hello' }],
    [
      'allow with a network of the host',
      {
        ...CLOSED,
        internet: '8.9.10.11',
        alias: '8.9.10.12',
        // Its addresses in that network are no secret any more.
        rebind: '192.168.77.7 8.9.10.11',
        stray: '8.9.10.11',
        nowhere: '',
        internetAddress: 'hello',
        elsewhere: 'hello',
        lan: 'hello',
      },
    ],
    ['whitelist of an address of credentials', { ...CLOSED, ...NO_NAMES }],
  ])('%s opens what it names and nothing else', (name, expected) => {
    expect(report.reached[name]).toEqual(expected);
  });

  test('lists the names that were looked up, newest first, with what became of them', () => {
    expect(report.lookups.length).toBeGreaterThan(20);
    expect(report.lookups[0]?.at).toBeGreaterThanOrEqual(report.lookups.at(-1)?.at ?? 0);
    const find = (name: string) => report.lookups.filter((one) => one.name === name && one.type === 'A');
    expect(find('internet.test').map(({ verdict }) => verdict)).toContain('denied');
    expect(find('internet.test').at(-1)).toMatchObject({ verdict: 'allowed', addresses: ['8.9.10.11'] });
  });

  test('ends connections that are open when it changes', () => {
    expect(report.stream.allowed).toBeGreaterThan(0);
    expect(report.stream.denied).toBe(0);
    expect(report.stream.allowedAgain).toBe(1);
  });

  test('connects a box that was made without a network', () => {
    expect(report.sealedAtFirst).toEqual({ before: 'lo', internet: 'hello', name: '8.9.10.11' });
  });

  test('cannot be borrowed from another box by bearing its address', () => {
    expect(report.withItsOwn).toBe('refused');
    expect(report.withAnothersAddress).toBe('refused');
  });

  test('is answered for one box while another one floods the name server', () => {
    expect(report.afterFlood).toBe('8.9.10.11');
  });

  test('goes on without the daemon, but names are not answered', () => {
    expect(report.withoutDaemon).toEqual({
      learnt: 'hello',
      notLearnt: 'refused',
      free: 'hello',
      names: 'refused',
    });
  });

  test('that somebody has wiped out with all rules of the host leaves nothing open', () => {
    expect(report.wipedOut).toEqual({ internet: 'refused', host: 'refused', lan: 'refused' });
  });

  test('holds again, names included, when the daemon is back', () => {
    expect(report.afterRestart).toEqual({ name: '8.9.10.11', internet: 'hello', host: 'refused' });
  });
});
