import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import type { Client } from '../../src/client/client.ts';
import { startChild } from '../support/child-server.ts';
import { startDaemon } from '../support/daemon.ts';
import { findProgram } from '../support/debian-packages.ts';
import { clientOf, newSandbox, run } from '../support/scene.ts';
import { namespaceMissing } from './kit/host.ts';
import { median, timed } from './kit/quantile.ts';
import { digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 5);
const SIZE_MB = sizeFromEnv('BENCH_STORE_MB', 32);
const SMALL = 100;
const KEYS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };
const POLL_MS = 5;

const STEPS = ['create', 'write', 'read', 'list'] as const;
type Step = (typeof STEPS)[number];
type Times = Record<Step, number[]>;

/**
 * A bucket as a folder of a sandbox on the namespace driver, beside the same done without it: a sandbox without mounts,
 * and requests to the same S3 server from this process.
 */
export async function benchObjectStores(report: Report): Promise<void> {
  const missing = namespaceMissing() ?? (findProgram('rclone') ? undefined : 'rclone is not installed');
  if (missing) return console.log(`not measured: ${missing}`);
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-s3-'));
  const store = await startChild(join(import.meta.dir, '../support/s3-server.ts'), [folder]);
  const daemon = await startDaemon({
    env: {
      SVC_LOG_LEVEL: 'info',
      SVC_SANDBOX_DRIVER: 'namespace',
      SVC_SANDBOX_WARM: '0',
      SVC_OUTBOUND_ALLOW: `127.0.0.1:${store.port}`,
    },
  });
  const endpoint = `http://127.0.0.1:${store.port}`;
  const bucket = new Bun.S3Client({
    ...{ endpoint, bucket: 'data', region: 'us-east-1' },
    ...{ accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  });
  const mounted: Times = { create: [], write: [], read: [], list: [] };
  const floor: Times = { create: [], write: [], read: [], list: [] };
  try {
    for (let i = 0; i < SMALL; i++) await bucket.write(`small/${i}`, 'x');
    for (let i = -1; i < ROUNDS; i++) {
      await round(clientOf(daemon), bucket, endpoint, i < 0 ? undefined : mounted);
      await directly(clientOf(daemon), bucket, i < 0 ? undefined : floor);
    }
    print(report, mounted, floor);
  } finally {
    await daemon.stop();
    await store.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function round(client: Client, bucket: Bun.S3Client, endpoint: string, times?: Times): Promise<void> {
  const mounts = [{ type: 's3', bucket: 'data', mountPath: '/data', endpoint }];
  const name = `large-${crypto.randomUUID()}`;
  let id = '';
  const step = async (what: Step, work: () => Promise<unknown>) => {
    const ms = await timed(work);
    times?.[what].push(ms);
  };
  await bucket.write('given', new Uint8Array(SIZE_MB * 1024 * 1024));
  await step('create', async () => {
    id = await newSandbox(client, { envVars: KEYS, mounts });
    await run(client, id, 'true');
  });
  await step('write', async () => {
    await run(client, id, `head -c ${SIZE_MB}M /dev/zero >/data/${name}`);
    while (!(await bucket.exists(name))) await Bun.sleep(POLL_MS);
  });
  await step('read', () => run(client, id, 'cat /data/given >/dev/null'));
  await step('list', () => run(client, id, 'cat /data/small/* >/dev/null'));
  await terminate(client, id);
  await bucket.delete(name);
}

async function directly(client: Client, bucket: Bun.S3Client, times?: Times): Promise<void> {
  let id = '';
  const step = async (what: Step, work: () => Promise<unknown>) => {
    const ms = await timed(work);
    times?.[what].push(ms);
  };
  await step('create', async () => {
    id = await newSandbox(client);
    await run(client, id, 'true');
  });
  await terminate(client, id);
  const bytes = new Uint8Array(SIZE_MB * 1024 * 1024);
  await step('write', () => bucket.write('direct', bytes));
  await step('read', () => bucket.file('given').bytes());
  await step('list', async () => {
    for (let i = 0; i < SMALL; i++) await bucket.file(`small/${i}`).text();
  });
}

async function terminate(client: Client, sandboxId: string): Promise<void> {
  await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
}

function print(report: Report, mounted: Times, floor: Times): void {
  const line = (what: string, step: Step): Line => {
    const [own, direct] = [median(mounted[step]), median(floor[step])];
    return { what, cells: [own, direct, own / direct].map(digits) };
  };
  report.table({
    title: 'an S3 bucket as a folder',
    columns: ['p50 ms', 'without', 'x'],
    lines: [
      line('create to first command', 'create'),
      line(`write of ${SIZE_MB} MB until it is in the store`, 'write'),
      line(`read of ${SIZE_MB} MB`, 'read'),
      line(`list and read of ${SMALL} small objects`, 'list'),
    ],
    notes: [
      'without: a sandbox without mounts; requests of this process to the same server, one after another',
    ],
  });
}

if (import.meta.main) await Report.of(benchObjectStores);
