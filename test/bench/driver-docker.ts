import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import Docker from 'dockerode';
import { createDockerDriver } from '../../daemon/modules/sandbox/drivers/docker/index.ts';
import type { BoxSpec, NetworkPolicy, SandboxDriver } from '../../daemon/modules/sandbox/drivers/driver.ts';
import { policyOf } from '../../daemon/modules/sandbox/drivers/network/policy.ts';
import { newId } from '../../src/kit/id.ts';
import { startDockerd, type TestDockerd } from '../support/dockerd.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 6);
const EXECS = 5;
const MIB = 1024 * 1024;

/** Milliseconds of each round, by step. */
type Times = Map<string, number[]>;

/**
 * Measures the docker driver beside the engine used bare (no hardening, no user, no preparation), by turns, on
 * one machine. The difference is what the driver costs. Run: bun test/bench/driver-docker.ts
 */
export async function benchDockerDriver(): Promise<void> {
  const engine = await startDockerd();
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-docker-'));
  const driver = createDockerDriver({ socketPath: engine.socket, instance: 'bench', dataDir, log: () => {} });
  const bare = new Docker({ socketPath: engine.socket });
  const times = { svc: new Map(), bare: new Map() } satisfies Record<string, Times>;
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      const keep = round > 0;
      await measureBare(bare, engine, keep ? times.bare : new Map());
      await measureDriver(driver, engine, dataDir, keep ? times.svc : new Map());
    }
    print(times.bare, times.svc);
    await printThroughput(driver, engine);
  } finally {
    await driver.close();
    await engine.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measureDriver(
  driver: SandboxDriver,
  engine: TestDockerd,
  dataDir: string,
  times: Times,
): Promise<void> {
  for (const network of ['deny', 'allow'] as const) {
    const spec = specOf(engine, network);
    const lap = stopwatch(times, network === 'allow' ? ' (with a network)' : '');
    await driver.create(spec);
    await runTrue(driver, spec.id);
    lap('create to first exec');
    if (network === 'deny') {
      for (let i = 0; i < EXECS; i++) {
        await runTrue(driver, spec.id);
        lap('exec');
      }
      const detached = await driver.spawn(
        spec.id,
        { id: newId('cmd'), argv: ['true'] },
        join(dataDir, `${spec.id}.log`),
      );
      await detached.exited;
      lap('background exec');
      const sleeper = await driver.exec(spec.id, { id: newId('cmd'), argv: ['sleep', '1000'] });
      await Bun.sleep(100);
      lap();
      await sleeper.kill('SIGKILL');
      await sleeper.exited;
      lap('kill a tree');
      await driver.stats(spec.id);
      lap('stats');
      await driver.update(spec.id, { ...spec.limits, memoryMb: 300 });
      lap('update of limits');
    }
    await driver.stop(spec.id);
    lap('stop');
    await driver.start(spec.id, spec);
    await runTrue(driver, spec.id);
    lap('revive to first exec');
    await driver.remove(spec.id);
    lap('remove');
  }
}

async function measureBare(client: Docker, { image }: TestDockerd, times: Times): Promise<void> {
  const lap = stopwatch(times);
  const HostConfig = { Init: true, NetworkMode: 'none', LogConfig: { Type: 'none', Config: {} } };
  const container = await client.createContainer({ Image: image, Cmd: ['sleep', '100000'], HostConfig });
  await container.start();
  await runTrueBare(container);
  lap('create to first exec');
  for (let i = 0; i < EXECS; i++) {
    await runTrueBare(container);
    lap('exec');
  }
  await container.stats({ stream: false, 'one-shot': true });
  lap('stats');
  await container.update({ Memory: 300 * MIB, MemorySwap: 300 * MIB });
  lap('update of limits');
  await container.stop({ t: 1 });
  lap('stop');
  await container.start();
  await runTrueBare(container);
  lap('revive to first exec');
  await container.remove({ force: true });
  lap('remove');
}

async function runTrue(driver: SandboxDriver, id: string): Promise<void> {
  const execution = await driver.exec(id, { id: newId('cmd'), argv: ['true'] });
  for await (const _ of execution.output);
  const { code } = await execution.exited;
  if (code !== 0) throw new Error(`true ended with ${code}`);
}

async function runTrueBare(container: Docker.Container): Promise<void> {
  const exec = await container.exec({ Cmd: ['true'], AttachStdout: true, AttachStderr: true });
  const stream = (await exec.start({ hijack: true, stdin: false })) as unknown as Readable;
  for await (const _ of stream);
  await exec.inspect();
}

async function printThroughput(driver: SandboxDriver, engine: TestDockerd): Promise<void> {
  const spec = specOf(engine, 'deny');
  await driver.create(spec);
  const bytes = 256 * MIB;
  const before = process.memoryUsage.rss();
  const start = performance.now();
  const argv: [string, ...string[]] = ['head', '-c', String(bytes), '/dev/zero'];
  const execution = await driver.exec(spec.id, { id: newId('cmd'), argv });
  let peak = before;
  for await (const _ of execution.output) peak = Math.max(peak, process.memoryUsage.rss());
  const seconds = (performance.now() - start) / 1000;
  await driver.remove(spec.id);
  const rate = (bytes / MIB / seconds).toFixed(0);
  console.log(
    `\noutput of 256 MB: ${rate} MB/s, at most ${((peak - before) / MIB).toFixed(0)} MB more memory`,
  );
}

function specOf({ image }: TestDockerd, mode: NetworkPolicy['mode']): BoxSpec {
  const limits = { cpu: 1, memoryMb: 256, pids: 256 };
  return { id: newId('sbx'), image, env: {}, limits, network: policyOf(mode) };
}

/** Writes the time since the last lap down under a name; without a name it only starts again. */
function stopwatch(times: Times, suffix = ''): (step?: string) => void {
  let last = performance.now();
  return (step) => {
    const now = performance.now();
    if (step) times.set(step + suffix, [...(times.get(step + suffix) ?? []), now - last]);
    last = performance.now();
  };
}

function print(bare: Times, svc: Times): void {
  console.log(
    `${''.padEnd(40)}${'engine'.padStart(10)}${'svc p50'.padStart(10)}${'svc p90'.padStart(10)}   ms`,
  );
  for (const [step, values] of svc) {
    const engine = bare.get(step);
    const cells = [
      engine ? quantile(engine, 0.5).toFixed(0) : '-',
      quantile(values, 0.5).toFixed(0),
      quantile(values, 0.9).toFixed(0),
    ];
    console.log(step.padEnd(40) + cells.map((cell) => cell.padStart(10)).join(''));
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

if (import.meta.main) await benchDockerDriver();
