import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import { sandboxSsh } from '../../src/api/sandbox/ssh.ts';
import { startDaemon, svcCommand, type TestDaemon } from '../support/daemon.ts';
import { clientOf, newSandbox, run as runOverHttp, until } from '../support/scene.ts';
import { OpenSsh, run } from '../support/ssh/openssh.ts';
import { measureFloor } from './kit/floor.ts';
import { namespaceMissing } from './kit/host.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atLeast, atMost, digits, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 10);
const MB = sizeFromEnv('BENCH_SSH_MB', 200);
const MIB = 1024 * 1024;

/** What is measured: a sandbox that runs, and the ways into it. */
interface Place {
  readonly daemon: TestDaemon;
  readonly id: string;
  readonly token: string;
  readonly ssh: OpenSsh;
}

/** SSH into a sandbox with the stock client, beside svc's own command line and HTTP, by turns, in one run. */
export async function benchSsh(report: Report): Promise<void> {
  const missing = namespaceMissing() ?? (Bun.which('ssh') ? undefined : 'there is no ssh (openssh-client)');
  if (missing) return console.log(`not measured: ${missing}`);
  const env = {
    SVC_SANDBOX_DRIVER: 'namespace',
    SVC_SANDBOX_WARM: '0',
    SVC_LOG_LEVEL: 'info',
    SVC_SSH_PORT: '0',
  };
  const daemon = await startDaemon({ env });
  const client = clientOf(daemon);
  const id = await newSandbox(client, { sshEnabled: true, memoryMb: '1024' });
  const params = { sandboxId: id };
  const { host = '', port = 0, hostKey = '' } = await client.call(sandboxSsh.GetSandboxSSHInfo, { params });
  const { token } = await client.call(sandboxSsh.CreateSshToken, { params, body: {} });
  const ssh = new OpenSsh({ host, port, hostKey });
  try {
    await commands(report, { daemon, id, token, ssh });
    await throughput(report, { daemon, id, token, ssh });
  } finally {
    ssh.close();
    await client.call(sandboxLifecycle.TerminateSandbox, { params, body: {} });
    await daemon.stop();
  }
}

async function commands(report: Report, place: Place): Promise<void> {
  const { daemon, id, token, ssh } = place;
  const floor = await measureFloor();
  const control = ['-o', `ControlPath=${join(ssh.dir, 'mux')}`];
  const master = ssh.start(token, [], [...control, '-M', '-N']);
  await until(async () => (await ssh.ssh(token, [], [...control, '-O', 'check'])).code === 0);
  const ways = {
    'ssh, a connection each': () => ssh.ssh(token, ['true']),
    'ssh, on a shared connection': () => ssh.ssh(token, ['true'], control),
    'sftp, a connection each': () => ssh.sftp(token, ['pwd']),
    'svc sandbox exec': () => svc(daemon, 'exec', id, '-n', '--', 'true'),
    'POST /command': () => runOverHttp(clientOf(daemon), id, 'true'),
  };
  const times = new Map<string, number[]>(Object.keys(ways).map((what) => [what, []]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const [what, way] of Object.entries(ways)) {
      const ms = await timed(async () => {
        const { code } = await way();
        if (code !== 0) throw new Error(`${what} ended with ${code}`);
      });
      if (round >= 0) times.get(what)?.push(ms);
    }
  }
  master.kill('SIGKILL');
  await master.exited;
  const own = median(times.get('svc sandbox exec') ?? []);
  report.table({
    title: 'a command over SSH',
    columns: ['p50 ms', 'p95 ms', 'x floor', 'x svc exec'],
    lines: [...times].map(([what, all]) => {
      const p50 = median(all);
      const goals = what.startsWith('ssh') ? [atMost(p50, what.includes('shared') ? 30 : 150, 'ms')] : [];
      return { what, cells: [p50, quantile(all, 0.95), p50 / floor.spawnMs, p50 / own].map(digits), goals };
    }),
    notes: [`floor: fork and exec of true ${digits(floor.spawnMs)} ms`],
  });
}

async function throughput(report: Report, { daemon, id, token, ssh }: Place): Promise<void> {
  const local = join(ssh.dir, 'bytes');
  const bytes = new Uint8Array(MB * MIB);
  for (let at = 0; at < bytes.length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  writeFileSync(local, bytes);
  const sh = (line: string) => run(['sh', '-c', line]);
  const over = (command: string) => ssh.sshLine(token, [command]).map(quoted).join(' ');
  const own = [...svcCommand(), 'sandbox', 'exec', id].map(quoted).join(' ');
  const env = `SVC_API_URL=${daemon.url} SVC_API_KEY=${daemon.apiKey}`;
  const before = residentMb(daemon.pid);
  const rates: Array<readonly [string, number]> = [];
  const rate = async (what: string, work: () => Promise<{ code: number; stderr: string }>) => {
    let ended = { code: 0, stderr: '' };
    const ms = await timed(async () => {
      ended = await work();
    });
    if (ended.code !== 0) throw new Error(`${what} ended with ${ended.code}: ${ended.stderr}`);
    rates.push([what, MB / (ms / 1000)]);
  };
  await rate('sftp put', () => ssh.sftp(token, [`put ${local} /tmp/bytes`]));
  await rate('sftp get', () => ssh.sftp(token, [`get /tmp/bytes ${local}.back`]));
  if (statSync(`${local}.back`).size !== bytes.length) throw new Error('sftp has lost bytes');
  await rate('ssh, output', () => sh(`${over('cat /tmp/bytes')} > /dev/null`));
  await rate('ssh, input', () => sh(`${over('cat > /dev/null')} < ${local}`));
  await rate('svc sandbox exec, output', () => sh(`${env} ${own} -n -- cat /tmp/bytes > /dev/null`));
  await rate('svc sandbox exec, input', () => sh(`${env} ${own} -- sh -c 'cat > /dev/null' < ${local}`));
  const peers = new Map(rates);
  const grown = residentMb(daemon.pid) - before;
  report.table({
    title: `${MB} MB over SSH`,
    columns: ['MB/s', 'x svc exec'],
    lines: rates.map(([what, mbPerS]) => {
      const input = what.includes('put') || what.includes('input');
      const peer = peers.get(`svc sandbox exec, ${input ? 'input' : 'output'}`) ?? Number.NaN;
      const goals = what.startsWith('svc') ? [] : [atLeast(mbPerS, 30, 'MB/s')];
      return { what, cells: [digits(mbPerS), digits(mbPerS / peer)], goals };
    }),
    notes: [`the daemon has grown by ${digits(grown)} MB`],
  });
  rmSync(local);
}

function svc({ url, apiKey }: TestDaemon, ...args: string[]) {
  return run(['env', `SVC_API_URL=${url}`, `SVC_API_KEY=${apiKey}`, ...svcCommand(), 'sandbox', ...args]);
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

if (import.meta.main) await Report.of(benchSsh);
