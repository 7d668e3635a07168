import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePrograms } from '../support/debian-packages.ts';

/**
 * Runs the benchmarks on the compiled program, or those that are named: `bun run bench sandbox startup`. Each prints
 * tables with ratios and goals. A goal that is missed is no failure; a benchmark that breaks is. Sizes come from the
 * environment: BENCH_ROUNDS, BENCH_CROWD, BENCH_CHANGE_MB, BENCH_WATCHED, BENCH_WATCH_SECONDS, BENCH_CALLS, BENCH_CRONS, BENCH_EVENTS, BENCH_EDGE_ROUNDS, BENCH_EDGE_MS, BENCH_IDLE_MS, BENCH_SSH_MB,
 * BENCH_STORE_MB, BENCH_RECORDS, BENCH_CHUNKS, BENCH_MEMORIES, BENCH_REVIEWS, BENCH_OBSERVED, BENCH_TURN_MS, BENCH_REQUESTS, BENCH_STREAMS.
 */
const BENCHMARKS = [
  'startup',
  'sandbox',
  'files',
  'snapshot',
  'object-stores',
  'code',
  'functions',
  'agents',
  'agent-tools',
  'mcp',
  'crowd',
  'watching',
  'automation',
  'edge',
  'gateway',
  'messages',
  'responses',
  'surfaces',
  'settings',
  'providers',
  'ledger',
  'telemetry',
  'cache',
  'dialects',
  'memory',
  'memories',
  'reviews',
  'preview',
  'network',
  'driver-namespace',
  'driver-docker',
  'ssh',
];

/** Programs of the benchmarks and the packages that bring them. */
const PROGRAMS = {
  crun: 'crun',
  nft: 'nftables',
  ip: 'iproute2',
  mount: 'mount',
  nsenter: 'util-linux',
  ssh: 'openssh-client',
  rclone: 'rclone',
  fusermount3: 'fuse3',
};

const root = join(import.meta.dir, '../..');
const binary = process.env.SVC_TEST_BINARY ?? join(root, 'dist/svc');
/** What the program is built from. */
const SOURCES = ['src', 'daemon', 'cli', 'web', 'migrations', 'package.json', 'bun.lock'];

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.find((name) => !BENCHMARKS.includes(name));
  if (unknown) {
    process.stderr.write(`There is no benchmark ${unknown}. There are ${BENCHMARKS.join(', ')}.\n`);
    return 2;
  }
  if (process.platform === 'linux' && process.getuid?.() === 0) await ensurePrograms(PROGRAMS);
  if (isStale() && (await build()) !== 0) return 1;
  const missed: string[] = [];
  const broken: string[] = [];
  const start = performance.now();
  for (const name of BENCHMARKS.filter((name) => names.length === 0 || names.includes(name))) {
    process.stdout.write(`\n== ${name}\n`);
    const begun = performance.now();
    if ((await runOne(name, missed)) !== 0) broken.push(name);
    process.stdout.write(`\n${name} took ${((performance.now() - begun) / 1000).toFixed(0)} s\n`);
  }
  const minutes = ((performance.now() - start) / 60_000).toFixed(1);
  process.stdout.write(
    `\n== ${minutes} minutes, ${missed.length} goals missed, ${broken.length} benchmarks broken\n`,
  );
  for (const line of missed) process.stdout.write(`${line}\n`);
  for (const name of broken) process.stdout.write(`  BROKEN  ${name}\n`);
  return broken.length === 0 ? 0 : 1;
}

/** Whether the program is missing or older than what it is built from. */
function isStale(): boolean {
  if (process.env.SVC_TEST_BINARY) return false;
  const built = existsSync(binary) ? statSync(binary).mtimeMs : 0;
  return SOURCES.some((source) => newest(join(root, source)) > built);
}

function newest(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function build(): Promise<number> {
  return Bun.spawn([process.execPath, 'cli/build.ts'], { cwd: root, stdout: 'inherit', stderr: 'inherit' })
    .exited;
}

/** Runs one benchmark in a process of its own; what it says is shown, and its missed goals are kept. */
async function runOne(name: string, missed: string[]): Promise<number> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, `${name}.ts`)], {
    cwd: root,
    env: { ...process.env, SVC_TEST_BINARY: binary },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  let said = '';
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    process.stdout.write(text);
    said += text;
  }
  missed.push(...said.split('\n').filter((line) => line.startsWith('  MISSED  ')));
  return child.exited;
}

process.exit(await main(process.argv.slice(2)));
