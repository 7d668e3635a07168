import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../host/run.ts';
import { whyUnusable } from '../namespace/probe.ts';
import { type NetworkLab, openNetworkLab } from '../namespace/testing/network-lab.ts';
import type { NetworkReport } from '../namespace/testing/network-scenario.ts';

const missing = whyUnusable('t') ?? ['nft', 'ip', 'perl', 'bash'].find((name) => !findProgram(name));

describe.skipIf(missing !== undefined)(
  `the network of boxes${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    let lab: NetworkLab | undefined;
    let dir = '';
    let report: NetworkReport;
    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), 'svc-net-'));
      await chmod(dir, 0o700);
      lab = await openNetworkLab();
      const script = join(import.meta.dir, '../namespace/testing/network-scenario.ts');
      const text = await lab.runOnHost(script, {
        dataDir: dir,
        instance: `net${crypto.randomUUID().slice(0, 6)}`,
      });
      report = JSON.parse(text) as NetworkReport;
    }, 120_000);
    afterAll(async () => {
      await lab?.close();
      await rm(dir, { recursive: true, force: true });
    }, 60_000);

    test('leads to the internet', () => {
      expect(report.fromBox).toMatchObject({ internet: 'hello' });
      expect(report.findings).toMatchObject({ nftables: 'ok', ip_forward: 'ok', dns: 'ok' });
      expect(report.rxBytes).toBeGreaterThan(0);
    });

    test('has names from the name servers of the host, which boxes themselves do not reach', () => {
      expect(report.resolvConf).toBe('nameserver 192.0.2.53');
      expect(report.fromBox).toMatchObject({ name: '8.9.10.11', nameServer: 'refused' });
    });

    test.each(['lan', 'routerInOwnNetwork'])('does not lead to the networks of the host (%s)', (place) => {
      expect(report.fromBox[place]).toBe('refused');
    });

    test('does not lead to the credentials of a cloud', () => {
      expect(report.fromBox.metadata).toBe('refused');
    });

    test.each(['hostUplink', 'hostBridge', 'loopback'])(
      'does not lead to this host at any of its addresses (%s)',
      (place) => {
        expect(report.fromBox[place]).toBe('refused');
      },
    );

    test('does not lead from one box to another, which the host itself can reach', () => {
      expect(report.fromBox.otherBoxOnItself).toBe('box');
      expect(report.fromHostToBox).toBe('box');
      expect(report.fromBox.otherBox).toBe('refused');
    });

    test('is not there for a box that has none, and speaks no IPv6 to the outside', () => {
      expect(report.interfacesOfDenied).toBe('lo');
      expect(report.ipv6).toBe('0');
    });

    test('goes on for a box when others come and go', () => {
      const { internet, before, between, after } = report.afterChanges;
      expect(internet).toBe('hello');
      expect(before).toMatch(/^link\/ether 02:/);
      expect([between, after]).toEqual([before, before]);
    });

    test('stands again when somebody has wiped out the rules of the host', () => {
      expect(report.afterFlush).toEqual({ hostUplink: 'refused', internet: 'hello' });
    });

    test('leaves nothing behind', () => {
      expect(report.left).toEqual({ links: '', tables: '' });
    });
  },
);
