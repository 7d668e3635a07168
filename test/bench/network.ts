import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boxSpec } from '../../daemon/modules/sandbox/drivers/conformance/scene.ts';
import type { NetworkPolicy, SandboxDriver } from '../../daemon/modules/sandbox/drivers/driver.ts';
import { createNamespaceDriver } from '../../daemon/modules/sandbox/drivers/namespace/index.ts';
import { LAB, openNetworkLab } from '../../daemon/modules/sandbox/drivers/namespace/testing/network-lab.ts';
import { formatAddress } from '../../daemon/modules/sandbox/drivers/network/address.ts';
import { policyOf } from '../../daemon/modules/sandbox/drivers/network/policy.ts';
import { namespaceMissing } from './kit/host.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atLeast, atMost, digits, type Goal, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const TURNS = sizeFromEnv('BENCH_TURNS', 5);
const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 5);
const LOOKUPS = sizeFromEnv('BENCH_LOOKUPS', 60);
const FLOW_MB = sizeFromEnv('BENCH_FLOW_MB', 256);
const CROWD = sizeFromEnv('BENCH_NETWORK_BOXES', 200);
const MIB = 1024 * 1024;
/** What the kernel takes to clear up after a change; nothing is measured meanwhile. */
const SETTLE_MS = 50;

/**
 * What network policies cost: a change, a look-up and a download, with the rules of one box and of many. It is run in
 * a network of its own, so that the host's is left alone. Run as root: bun test/bench/network.ts
 */
export async function benchNetwork(): Promise<void> {
  const missing = namespaceMissing();
  if (missing) return console.log(`not measured: ${missing}`);
  const lab = await openNetworkLab();
  try {
    console.log(await lab.runOnHost(import.meta.path, 'inside'));
  } finally {
    await lab.close();
  }
}

async function measure(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-network-'));
  await chmod(dataDir, 0o700);
  const instance = `bn${crypto.randomUUID().slice(0, 6)}`;
  const driver = await createNamespaceDriver({ dataDir, instance, warm: 0, log: () => {} });
  const report = new Report();
  const box = boxSpec('host', { network: 'allow' });
  await driver.create(box);
  const enter = ['nsenter', `--net=/proc/${await driver.hostProcess(box.id)}/ns/net`];
  try {
    const [alone, crowded, floor] = [noFigures(), noFigures(), noFigures()];
    for (let i = 0; i < TURNS; i++) {
      await measureTurn(driver, box.id, enter, alone);
      await crowd('add');
      await measureTurn(driver, box.id, enter, crowded);
      await crowd('delete');
      await measureFloor(floor);
    }
    print(report, alone, crowded, floor);
    report.close();
  } finally {
    await driver.remove(box.id);
    await driver.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Figures {
  readonly changeMs: number[];
  readonly openMs: number[];
  readonly listedMs: number[];
  /** The first look-up after a change, which has to open the address. */
  readonly firstMs: number[];
  readonly mbPerSecond: number[];
}

function noFigures(): Figures {
  return { changeMs: [], openMs: [], listedMs: [], firstMs: [], mbPerSecond: [] };
}

async function measureTurn(driver: SandboxDriver, id: string, enter: string[], into: Figures): Promise<void> {
  const whitelist: NetworkPolicy = { ...policyOf('whitelist'), allowHosts: ['*.test'] };
  for (let i = 0; i < ROUNDS; i++)
    for (const policy of [policyOf('deny'), whitelist, policyOf('allow')]) {
      into.changeMs.push(await timed(() => driver.setNetwork(id, policy)));
      await Bun.sleep(SETTLE_MS);
    }
  into.openMs.push(...(await lookUp(enter, '192.0.2.53')));
  await driver.setNetwork(id, whitelist);
  const [first = Number.NaN, ...next] = await lookUp(enter, '192.0.2.53');
  into.firstMs.push(first);
  into.listedMs.push(...next);
  for (let i = 1; i < ROUNDS; i++) {
    await driver.setNetwork(id, policyOf('deny'));
    await driver.setNetwork(id, whitelist);
    await Bun.sleep(SETTLE_MS);
    into.firstMs.push((await lookUp(enter, '192.0.2.53', 1))[0] ?? Number.NaN);
  }
  await driver.setNetwork(id, policyOf('allow'));
  into.mbPerSecond.push(await download(enter));
}

/** The least that each can take: nft that changes nothing, the name server itself, the host's own connection. */
async function measureFloor(into: Figures): Promise<void> {
  for (let i = 0; i < ROUNDS; i++)
    into.changeMs.push(await timed(() => Bun.spawn(['nft', 'list', 'tables'], { stdout: 'ignore' }).exited));
  const times = await lookUp([], LAB.resolver);
  into.openMs.push(...times);
  into.listedMs.push(...times);
  into.firstMs.push(...times);
  into.mbPerSecond.push(await download([]));
}

function print(report: Report, alone: Figures, crowded: Figures, floor: Figures): void {
  const times = (
    what: string,
    pick: (from: Figures) => number[],
    goal: (ms: number, least: number) => Goal,
  ) => {
    const [one, many, least] = [median(pick(alone)), median(pick(crowded)), median(pick(floor))];
    const cells = [
      one,
      quantile(pick(alone), 0.95),
      many,
      quantile(pick(crowded), 0.95),
      least,
      many / least,
    ];
    return { what, cells: cells.map(digits), goals: [goal(many, least)] } satisfies Line;
  };
  const added = (ms: number, least: number) => atMost(ms - least, 2, 'ms more');
  report.table({
    title: `ms, 1 and ${CROWD} boxes`,
    columns: ['p50', 'p95', `p50 ${CROWD}`, `p95 ${CROWD}`, 'floor', 'ratio'],
    lines: [
      times(
        'a change of policy',
        ({ changeMs }) => changeMs,
        (ms, least) => atMost(ms / least, 5, 'x floor'),
      ),
      times('a look-up, allow', ({ openMs }) => openMs, added),
      times('a look-up, whitelist', ({ listedMs }) => listedMs, added),
      times(
        'the first of a name, whitelist',
        ({ firstMs }) => firstMs,
        (ms, least) => atMost(ms - least, 10, 'ms more'),
      ),
    ],
    notes: [
      'floor: a run of nft that changes nothing; a question to the name server itself',
      'a change holds before nft ends: after a deletion that waits for a grace period of the kernel',
    ],
  });
  const [one, many, host] = [alone, crowded, floor].map(({ mbPerSecond }) => median(mbPerSecond)) as [
    number,
    number,
    number,
  ];
  report.table({
    title: 'download, MB/s',
    columns: ['MB/s', 'of host'],
    lines: [
      { what: 'the host itself', cells: [host, 1].map(digits) },
      { what: 'a box, rules of 1', cells: [one, one / host].map(digits) },
      {
        what: `a box, rules of ${CROWD}`,
        cells: [many, many / host].map(digits),
        goals: [atLeast(many / one, 0.9, 'x rules of 1')],
      },
    ],
  });
}

/** The rules of many boxes, each with an open mode, ten networks and addresses that names led to. */
async function crowd(verb: 'add' | 'delete'): Promise<void> {
  const tables = await new Response(Bun.spawn(['nft', 'list', 'tables'], { stdout: 'pipe' }).stdout).text();
  const table = /table inet (svc_\w+)/.exec(tables)?.[1] ?? '';
  const lines: string[] = [];
  for (let i = 0; i < CROWD - 1; i++) {
    const own = `10.255.${Math.floor(i / 250)}.${(i % 250) + 1}`;
    lines.push(`${verb} element bridge ${table} ports { "vcrowd${i}" . ${own} }`);
    lines.push(`${verb} element inet ${table} open { ${own} }`);
    for (let n = 0; n < 10; n++) {
      lines.push(
        `${verb} element inet ${table} blocks { ${own} . ${formatAddress(0x0b000000 + n * 256)}/24 }`,
      );
      lines.push(`${verb} element inet ${table} learnt { ${own} . ${formatAddress(0x0c000000 + n)} }`);
    }
  }
  const nft = Bun.spawn(['nft', '-f', '-'], { stdin: Buffer.from(lines.join('\n')), stderr: 'inherit' });
  if ((await nft.exited) !== 0) throw new Error('the rules of the crowd were refused');
}

/** Milliseconds of questions for a name, one after another, as somebody in that network. */
async function lookUp(enter: string[], server: string, count = LOOKUPS): Promise<number[]> {
  return JSON.parse(await inside(enter, 'lookUp', server, String(count)));
}

/** Megabytes a second of one connection. */
async function download(enter: string[]): Promise<number> {
  return Number(await inside(enter, 'download', LAB.internet));
}

async function inside(enter: string[], ...words: string[]): Promise<string> {
  const child = Bun.spawn([...enter, process.execPath, import.meta.path, ...words], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  return new Response(child.stdout).text();
}

async function askRepeatedly(server: string, count: number): Promise<void> {
  const question = Buffer.from('000001000001000000000000056f7468657204746573740000010001', 'hex');
  let answered = () => {};
  const socket = await Bun.udpSocket({
    connect: { hostname: server, port: 53 },
    socket: { data: () => answered(), error: () => {} },
  });
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    times.push(
      await timed(
        () =>
          new Promise<void>((resolve) => {
            answered = resolve;
            socket.send(question);
          }),
      ),
    );
    // Less than the questions that a box may ask in a second.
    await Bun.sleep(8);
  }
  console.log(JSON.stringify(times));
  process.exit(0);
}

async function readAsFastAsPossible(server: string): Promise<void> {
  let bytes = 0;
  let start = 0;
  await Bun.connect({
    hostname: server,
    port: 82,
    socket: {
      open: () => {
        start = performance.now();
      },
      data(_, chunk) {
        bytes += chunk.length;
        if (bytes < FLOW_MB * MIB) return;
        console.log(bytes / MIB / ((performance.now() - start) / 1000));
        process.exit(0);
      },
    },
  });
}

if (import.meta.main) {
  const [, , role, server = '', count] = process.argv;
  if (role === 'lookUp') await askRepeatedly(server, Number(count));
  else if (role === 'download') await readAsFastAsPossible(server);
  else if (role === '"inside"') await measure();
  else await benchNetwork();
}
