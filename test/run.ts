import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
  rclone: 'rclone',
  fusermount3: 'fuse3',
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

/**
 * The tests beside the code and then those of the whole program, one after the other: they share two cores. A file
 * with a failure is run once more when nothing else runs, because a machine may stall; what fails twice has failed.
 */
async function runTests(env: Record<string, string>): Promise<Counts> {
  const all = { ...env, SVC_TEST_BINARY: join(root, 'dist/svc') };
  const files = new Map<string, Counts>();
  let crashed = 0;
  for (const part of ['src', 'cli', 'daemon', 'web', 'test']) {
    say(`tests in ${part}/`);
    const { code, counts } = await testRun([`./${part}/`], all);
    for (const [file, found] of counts) files.set(file, found);
    crashed += code > 1 || code < 0 ? 1 : 0;
  }
  for (const [file, { failed }] of files) {
    if (failed === 0) continue;
    say(`once more: ${file}`);
    const again = (await testRun([`./${file}`], all)).counts.get(file);
    say(`${file}: ${again?.failed === 0 ? 'passed at the second try' : 'failed twice'}`);
    if (again) files.set(file, again);
  }
  const counts = [...files.values()].reduce(add, { passed: 0, failed: 0, skipped: 0 });
  return { ...counts, failed: counts.failed + crashed };
}

interface TestRun {
  readonly code: number;
  /** By the path of the file. */
  readonly counts: ReadonlyMap<string, Counts>;
}

async function testRun(paths: readonly string[], env: Record<string, string>): Promise<TestRun> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-report-'));
  const report = join(dir, 'junit.xml');
  const options = ['--timeout', '120000', '--reporter=junit', `--reporter-outfile=${report}`];
  const code = await run([bun, 'test', ...paths, ...options], env);
  const xml = existsSync(report) ? readFileSync(report, 'utf8') : '';
  rmSync(dir, { recursive: true });
  return { code, counts: countsOf(xml) };
}

/** Reads the totals of each file from a JUnit report: the suite of a file has the name of the file. */
function countsOf(xml: string): Map<string, Counts> {
  const suites = [...xml.matchAll(/<testsuite name="([^"]*)" file="([^"]*)"([^>]*)>/g)];
  return new Map(
    suites
      .filter(([, name, file]) => name === file)
      .map(([, , file = '', rest = '']) => {
        const total = (key: string) => Number(new RegExp(` ${key}="(\\d+)"`).exec(rest)?.[1] ?? 0);
        const [failed, skipped] = [total('failures') + total('errors'), total('skipped')];
        return [file, { passed: total('tests') - failed - skipped, failed, skipped }];
      }),
  );
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
