import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxFiles } from '../../src/api/sandbox/files.ts';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import type { Client } from '../../src/client/client.ts';
import { startDaemon, type TestDaemon } from '../support/daemon.ts';
import { dockerdMissing, startDockerd } from '../support/dockerd.ts';
import { clientOf, newSandbox, run } from '../support/scene.ts';
import { namespaceMissing } from './kit/host.ts';
import { memoryOf } from './kit/processes.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atLeast, atMost, digits, type Goal, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const CALLS = sizeFromEnv('BENCH_FILE_CALLS', 400);
const LARGE_MB = sizeFromEnv('BENCH_FILE_MB', 240);
const NAMES = 1_000;
const SAMPLE_MS = 20;

/** A sandbox whose files are measured. */
interface Place {
  readonly daemon: TestDaemon;
  readonly client: Client;
  readonly id: string;
}

/** Files over HTTP, on both drivers, beside a bare server of static files, the engine's own copies and the same disk. */
export async function benchFiles(report: Report): Promise<void> {
  const missing = namespaceMissing();
  if (missing) return console.log(`not measured: ${missing}`);
  const engine = dockerdMissing() ? undefined : await startDockerd();
  const places: Place[] = [];
  try {
    const open = async (env: Record<string, string>) => {
      const daemon = await startDaemon({ env: { SVC_LOG_LEVEL: 'info', ...env } });
      const client = clientOf(daemon);
      const place = { daemon, client, id: await newSandbox(client) };
      places.push(place);
      return place;
    };
    const namespace = await open({ SVC_SANDBOX_DRIVER: 'namespace' });
    const docker =
      engine &&
      (await open({
        SVC_SANDBOX_DRIVER: 'docker',
        SVC_DOCKER_SOCKET: engine.socket,
        SVC_SANDBOX_DOCKER_IMAGE: await engine.debianImage(),
      }));
    await small(report, namespace, docker, engine?.socket);
    await large(report, namespace, docker);
  } finally {
    for (const { daemon, client, id } of places) {
      await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
      await daemon.stop();
    }
    await engine?.stop();
  }
}

async function small(
  report: Report,
  namespace: Place,
  docker: Place | undefined,
  socket: string | undefined,
): Promise<void> {
  const bare = await bareServer(namespace.daemon.dataDir);
  const steps: ReadonlyArray<
    [what: string, work: (place: Place) => Promise<unknown>, calls: number, limit: number]
  > = [
    ['write 1 KB', (place) => put(place, '/workspace/small', new Uint8Array(1024)), CALLS, 12],
    ['read 1 KB', (place) => get(place, '/workspace/small'), CALLS, 12],
    ['describe a file', (place) => info(place, '/workspace/small'), CALLS, 12],
    [`list ${NAMES} files`, list, 20, 100],
    ['read 1 KB by a command', (place) => run(place.client, place.id, 'cat /workspace/small'), 20, 100],
  ];
  for (const place of [namespace, docker])
    if (place)
      await run(
        place.client,
        place.id,
        `mkdir /workspace/n; cd /workspace/n; for i in $(seq ${NAMES}); do : >$i; done`,
      );
  const floor = median(await times(() => fetch(bare.url).then((it) => it.bytes()), CALLS));
  const lines: Line[] = [];
  for (const [what, work, calls, limit] of steps) {
    const ours = await times(() => work(namespace), calls);
    const theirs = docker ? await times(() => work(docker), calls) : [];
    const p50 = median(ours);
    lines.push({
      what,
      cells: [p50, quantile(ours, 0.95), median(theirs), p50 / floor].map(digits),
      goals: [atMost(p50, limit, 'ms'), ...(docker ? [atMost(median(theirs), limit, 'ms docker')] : [])],
    });
  }
  const copies = docker && socket ? await times(() => engineCopy(docker, socket), 20) : [];
  report.table({
    title: 'files over HTTP',
    columns: ['p50 ms', 'p95 ms', 'docker', 'x bare'],
    lines,
    notes: [
      `bare: Bun serves a file of 1 KB in ${digits(floor)} ms`,
      `the engine's own archive copy (docker cp) of 1 KB out of its box takes ${digits(median(copies))} ms`,
    ],
  });
  bare.stop();
}

async function large(report: Report, namespace: Place, docker: Place | undefined): Promise<void> {
  const source = join(namespace.daemon.dataDir, 'source');
  const disk = diskRate(source);
  const form = await writeForm(source);
  const lines: Line[] = [];
  for (const [name, place] of [
    ['namespace', namespace],
    ['docker', docker],
  ] as const) {
    if (!place) continue;
    const multipart = async () => {
      const headers = { 'content-type': form.type };
      const init = { method: 'POST', headers, body: Bun.file(form.path) };
      await ok(place.daemon.fetch(`/v1/sandbox/${place.id}/files/upload`, init));
    };
    const up = await transfer(place, multipart);
    const raw = await transfer(place, () => put(place, '/workspace/large', Bun.file(source)));
    const down = await transfer(place, () => get(place, '/workspace/large'));
    const goals = (rate: number, growth: number): Goal[] => [
      ...(name === 'namespace' ? [atLeast(rate, Math.floor(Math.min(200, disk / 1.5)), 'MB/s')] : []),
      atMost(growth, 64, 'MB more'),
    ];
    for (const [what, { rate, growth }] of [
      ['upload, multipart', up],
      ['upload, plain body', raw],
      ['download', down],
    ] as const)
      lines.push({
        what: `${what}, ${name}`,
        cells: [rate, growth, rate / disk].map(digits),
        goals: goals(rate, growth),
      });
  }
  report.table({
    title: `a file of ${LARGE_MB} MB`,
    columns: ['MB/s', 'MB more', 'x disk'],
    lines,
    notes: [
      `the same disk takes writes of 1 MB at ${digits(disk)} MB/s; the sender and the reader share the machine`,
    ],
  });
  rmSync(source);
  rmSync(form.path);
}

/** A body that is ready to be sent: a FormData would first be put together in the memory of the sender, while the clock runs. */
async function writeForm(source: string): Promise<{ path: string; type: string }> {
  const path = `${source}.form`;
  const part = (headers: string) => `--B\r\nContent-Disposition: form-data; ${headers}\r\n\r\n`;
  const metadata = `${part('name="metadata"')}${JSON.stringify({ path: '/workspace/large' })}\r\n`;
  const file = Bun.file(path).writer();
  file.write(`${metadata}${part('name="file"; filename="large"')}`);
  for await (const bytes of Bun.file(source).stream()) {
    file.write(bytes);
    await file.flush();
  }
  file.write('\r\n--B--\r\n');
  await file.end();
  return { path, type: 'multipart/form-data; boundary=B' };
}

/** How fast a file is carried, and how much the daemon grows meanwhile. */
async function transfer(
  { daemon }: Place,
  work: () => Promise<unknown>,
): Promise<{ rate: number; growth: number }> {
  const before = memoryOf([daemon.pid]).residentMb;
  let peak = before;
  const sampler = setInterval(() => {
    peak = Math.max(peak, memoryOf([daemon.pid]).residentMb);
  }, SAMPLE_MS);
  const ms = await timed(work);
  clearInterval(sampler);
  return { rate: LARGE_MB / (ms / 1000), growth: peak - before };
}

/** Writes the file that is sent; answers MB/s. */
function diskRate(path: string): number {
  const block = crypto.getRandomValues(new Uint8Array(65_536));
  const bytes = Buffer.concat(Array.from({ length: 16 }, () => block));
  const start = performance.now();
  const file = openSync(path, 'w');
  for (let i = 0; i < LARGE_MB; i++) writeSync(file, bytes);
  closeSync(file);
  return LARGE_MB / ((performance.now() - start) / 1000);
}

async function times(work: () => Promise<unknown>, count: number): Promise<number[]> {
  for (let i = 0; i < 3; i++) await work();
  const list: number[] = [];
  for (let i = 0; i < count; i++) list.push(await timed(work));
  return list;
}

async function ok(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  if (!response.ok) throw new Error(await response.text());
  return response;
}

async function put({ daemon, id }: Place, path: string, body: BodyInit): Promise<void> {
  const url = `/v1/sandbox/${id}/files/content?${new URLSearchParams({ path })}`;
  await (await ok(daemon.fetch(url, { method: 'PUT', body }))).bytes();
}

async function get({ daemon, id }: Place, path: string): Promise<void> {
  const response = await ok(
    daemon.fetch(`/v1/sandbox/${id}/files/download?${new URLSearchParams({ path })}`),
  );
  for await (const _ of response.body ?? []);
}

function info({ client, id }: Place, path: string) {
  return client.call(sandboxFiles.GetFileInfo, { params: { sandboxId: id }, query: { path: [path] } });
}

async function list({ client, id }: Place): Promise<void> {
  const { total } = await client.call(sandboxFiles.ListDirectory, {
    params: { sandboxId: id },
    query: { path: '/workspace/n' },
  });
  if (total !== NAMES) throw new Error(`${total} files are listed`);
}

async function engineCopy({ client, id }: Place, unix: string): Promise<void> {
  const { instance } = await client.call(sandboxLifecycle.GetSandboxInstance, { params: { sandboxId: id } });
  const url = `http://engine/containers/${instance?.containerId}/archive?path=/workspace/small`;
  await (await ok(fetch(url, { unix }))).bytes();
}

async function bareServer(dir: string): Promise<{ url: string; stop: () => void }> {
  const path = join(dir, 'bare-file');
  await Bun.write(path, new Uint8Array(1024));
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(Bun.file(path)) });
  return { url: String(server.url), stop: () => void server.stop(true) };
}

if (import.meta.main) await Report.of(benchFiles);
