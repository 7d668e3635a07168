import { bm25 } from '../../daemon/modules/gateway/upstream/local/bm25/rank.ts';
import { type SurfacesScene, startSurfaces } from '../support/surfaces-scene.ts';
import { SURFACES_KEY } from '../support/upstream-surfaces.ts';
import { median, timed } from './kit/quantile.ts';
import { atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 10);
const CALLS = 30;
const UPLOAD_MB = 25;
const TEXTS = 200;
const DIMENSIONS = 1024;

/** One way to the same answer. */
interface Way {
  readonly name: string;
  readonly url: string;
  readonly key: string;
  readonly prefix: string;
}

/** The surfaces other than chat, through svc and directly, by turns; and the reranker that is built in. */
export async function benchSurfaces(report: Report): Promise<void> {
  const scene = await startSurfaces();
  try {
    const { url, apiKey } = scene.daemon;
    const direct: Way = { name: 'direct', url: `${scene.upstream}/v1`, key: SURFACES_KEY, prefix: '' };
    const through: Way = { name: 'svc', url: `${url}/compat/v1`, key: apiKey, prefix: 'openai/' };
    await benchCalls(report, direct, through);
    await benchUpload(report, scene, direct, through);
  } finally {
    await scene.stop();
  }
  await benchRanking(report);
}

async function benchCalls(report: Report, direct: Way, through: Way): Promise<void> {
  const texts = Array.from({ length: TEXTS }, (_, i) => `text ${i}`);
  const works: ReadonlyArray<readonly [string, (way: Way) => Promise<unknown>, number]> = [
    ['embeddings, one text', (way) => embed(way, ['one'], 8, 'embed', 'base64'), 1],
    [
      `embeddings, ${TEXTS} x ${DIMENSIONS}, as they come`,
      (way) => embed(way, texts, DIMENSIONS, 'embed', 'base64'),
      5,
    ],
    [
      `embeddings, ${TEXTS} x ${DIMENSIONS}, converted`,
      (way) => embed(way, texts, DIMENSIONS, 'embed-float', 'base64'),
      100,
    ],
    ['speech, first bytes', speak, 2],
  ];
  const lines: Line[] = [];
  for (const [what, work, most] of works) {
    const [floor, ours] = await byTurns(direct, through, work);
    const added = ours - floor;
    lines.push({
      what,
      cells: [digits(floor), digits(ours), digits(added)],
      goals: [atMost(Number(digits(added)), most, 'ms')],
    });
  }
  report.table({ title: 'One call, ms, median', columns: ['direct', 'svc', 'added'], lines });
}

async function byTurns(
  direct: Way,
  through: Way,
  work: (way: Way) => Promise<unknown>,
): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let call = 0; call < CALLS + 5; call++)
    for (const [place, way] of [direct, through].entries()) {
      const ms = await timed(() => work(way));
      if (call >= 5) times[place]?.push(ms);
    }
  return [median(times[0]), median(times[1])];
}

async function benchUpload(
  report: Report,
  { daemon }: SurfacesScene,
  direct: Way,
  through: Way,
): Promise<void> {
  const bytes = new Uint8Array(UPLOAD_MB * 1024 * 1024 - 4096).fill(7);
  const times: [number[], number[]] = [[], []];
  let most = 0;
  for (let round = 0; round < Math.min(ROUNDS, 6); round++)
    for (const [place, way] of [direct, through].entries()) {
      times[place]?.push(await timed(() => transcribe(way, bytes)));
      most = Math.max(most, residentMb(await Bun.file(`/proc/${daemon.pid}/status`).text()));
    }
  const [floor, ours] = [median(times[0]), median(times[1])];
  const cells = [digits(floor), digits(ours), digits(ours / floor)];
  report.table({
    title: `A sound of ${UPLOAD_MB} MB, ms, median`,
    columns: ['direct', 'svc', 'ratio'],
    lines: [{ what: 'transcription', cells, goals: [atMost(Number(digits(ours / floor)), 4, 'x')] }],
    notes: [
      `svc took at most ${digits(most)} MiB of memory. It keeps the form before it calls: two transfers and a disk.`,
    ],
  });
}

async function benchRanking(report: Report): Promise<void> {
  const lines: Line[] = [];
  for (const count of [100, 1000, 5000]) {
    const documents = Array.from({ length: count }, (_, i) => `document ${i} `.repeat(50));
    const times: number[] = [];
    const lates: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const watch = new LateWatch();
      times.push(await timed(() => bm25('document 7 of many', documents)));
      lates.push(watch.stop());
    }
    const [ms, late] = [median(times), median(lates)];
    const cells = [digits(ms), digits((count * 100) / ms), digits(late)];
    lines.push({
      what: `${count} documents of 100 words`,
      cells,
      goals: [atMost(Number(digits(late)), 15, 'ms late')],
    });
  }
  report.table({ title: 'local/bm25', columns: ['ms', 'words/ms', 'late ms'], lines });
}

/** How late the event loop is at worst. */
class LateWatch {
  private late = 0;
  private last = performance.now();
  private readonly ticking = setInterval(() => {
    this.late = Math.max(this.late, performance.now() - this.last - 1);
    this.last = performance.now();
  }, 1);

  stop(): number {
    clearInterval(this.ticking);
    return this.late;
  }
}

async function embed(
  way: Way,
  input: readonly string[],
  dimensions: number,
  model: string,
  encoding_format: string,
) {
  const body = { model: `${way.prefix}${model}`, input, dimensions, encoding_format };
  return (await post(way, '/embeddings', JSON.stringify(body))).arrayBuffer();
}

async function speak(way: Way) {
  const body = { model: `${way.prefix}speak`, voice: 'a', input: 'hi' };
  const reader = (await post(way, '/audio/speech', JSON.stringify(body))).body?.getReader();
  await reader?.read();
  await reader?.cancel();
}

async function transcribe(way: Way, bytes: Uint8Array<ArrayBuffer>) {
  const form = new FormData();
  form.append('file', new Blob([bytes]), 'long.wav');
  form.append('model', `${way.prefix}hear`);
  return (await post(way, '/audio/transcriptions', form)).text();
}

async function post({ url, key, name }: Way, path: string, body: string | FormData): Promise<Response> {
  const type = typeof body === 'string' ? { 'content-type': 'application/json' } : undefined;
  const headers = { authorization: `Bearer ${key}`, ...type };
  const response = await fetch(url + path, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${name} answered ${response.status}: ${await response.text()}`);
  return response;
}

function residentMb(status: string): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

if (import.meta.main) await Report.of(benchSurfaces);
