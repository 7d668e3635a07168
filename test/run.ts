import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePrograms } from './support/debian-packages.ts';
import { dockerdMissing, startDockerd } from './support/dockerd.ts';

/**
 * The whole test: sets up what the tests need, builds the executable, checks style and types, and runs
 * every test with a real container runtime and a real Docker engine. Closes with `N passed, N failed`.
 */

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const root = join(import.meta.dir, '..');
const bun = process.execPath;

/** Programs of the tests and the packages that bring them. */
const PROGRAMS = {
  crun: 'crun',
  mount: 'mount',
  curl: 'curl',
  nft: 'nftables',
  ip: 'iproute2',
  fallocate: 'util-linux',
  tmux: 'tmux',
  zstd: 'zstd',
  ssh: 'openssh-client',
};

async function main(): Promise<number> {
  say('setting up');
  if (process.platform === 'linux' && process.getuid?.() === 0) await ensurePrograms(PROGRAMS);
  const steps = [
    await step('style and types', [bun, 'run', 'check']),
    await step('the executable', [bun, 'cli/build.ts']),
  ];
  const counts = await withEngine((env) => runTests(env));
  const failed = counts.failed + steps.filter((ok) => !ok).length;
  const passed = counts.passed + steps.filter((ok) => ok).length;
  process.stdout.write(`\n${passed} passed, ${failed} failed, ${counts.skipped} skipped\n`);
  return failed === 0 && counts.passed > 0 ? 0 : 1;
}

async function withEngine<T>(work: (env: Record<string, string>) => Promise<T>): Promise<T> {
  const missing = dockerdMissing();
  if (missing) {
    say(`no Docker engine for the tests: ${missing}`);
    return work({});
  }
  const engine = await startDockerd();
  try {
    return await work({
      SVC_TEST_DOCKER_SOCKET: engine.socket,
      SVC_TEST_DOCKER_IMAGE: engine.image,
      SVC_TEST_DOCKER_NETNS: engine.netns,
    });
  } finally {
    await engine.stop();
  }
}

/** The tests beside the code and then those of the whole program, one after the other: they share two cores. */
async function runTests(env: Record<string, string>): Promise<Counts> {
  const reports = mkdtempSync(join(tmpdir(), 'svc-reports-'));
  const all = { ...env, SVC_TEST_BINARY: join(root, 'dist/svc') };
  const codes = [];
  for (const part of ['src', 'cli', 'daemon', 'web', 'test']) {
    say(`tests in ${part}/`);
    const report = ['--reporter=junit', `--reporter-outfile=${join(reports, `${part}.xml`)}`];
    codes.push(await run([bun, 'test', `./${part}/`, '--timeout', '120000', ...report], all));
  }
  const counts = readdirSync(reports)
    .map((file) => countsOf(readFileSync(join(reports, file), 'utf8')))
    .reduce(add, { passed: 0, failed: 0, skipped: 0 });
  rmSync(reports, { recursive: true });
  const crashed = codes.filter((code) => code > 1 || code < 0).length;
  return { ...counts, failed: counts.failed + crashed };
}

/** Reads the totals of a JUnit report. */
function countsOf(xml: string): Counts {
  const totals = /<testsuites[^>]*>/.exec(xml)?.[0] ?? '';
  const total = (name: string) => Number(new RegExp(`${name}="(\\d+)"`).exec(totals)?.[1] ?? 0);
  const failed = total('failures') + total('errors');
  return { passed: total('tests') - failed - total('skipped'), failed, skipped: total('skipped') };
}

function add(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

async function step(name: string, argv: string[]): Promise<boolean> {
  say(name);
  const ok = (await run(argv, {})) === 0;
  if (!ok) say(`${name}: FAILED`);
  return ok;
}

async function run(argv: string[], env: Record<string, string>): Promise<number> {
  const child = Bun.spawn(argv, {
    cwd: root,
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  });
  return child.exited;
}

function say(text: string): void {
  process.stdout.write(`\n== ${text}\n`);
}

process.exit(await main());
