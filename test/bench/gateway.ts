import { applyLoad, type Heard, type Load, type Target } from './gateway-load.ts';
import { startPassthrough, startPeer, startSvc, upstreamItself } from './gateway-targets.ts';
import {
  type LightUpstream,
  PACE,
  PACED_MODEL,
  SILENT_MODEL,
  startLightUpstream,
} from './gateway-upstream.ts';
import { memoryOf } from './kit/processes.ts';
import { median, quantile } from './kit/quantile.ts';
import { atLeast, atMost, digits, type Goal, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 5);
const TURN_MS = sizeFromEnv('BENCH_TURN_MS', 700);
const REQUESTS = sizeFromEnv('BENCH_REQUESTS', 100_000);
const STREAMS = sizeFromEnv('BENCH_STREAMS', 512);
/** Enough for the runtimes to have compiled what is hot. */
const WARM_UP_MS = 4 * TURN_MS;
const CROWD = 16;
/** Callers that leave, one after the other. */
const LEAVERS = 100;
/** How often memory is looked at on the way to REQUESTS. */
const SAMPLES = 20;
/** After the load, until memory is looked at for the last time. */
const REST_MS = 5_000;

/** Everything that is measured, in one run and by turns. */
interface Stand {
  readonly itself: Target;
  readonly bare: Target;
  readonly svc: Target;
  readonly svcAllOff: Target;
  readonly peer: Target | undefined;
}

/**
 * The gateway beside the upstream itself, a passthrough with nothing in it, and a peer on Node: the same requests, the same upstream, one
 * machine, by turns. Ratios mean something; absolute figures are this machine's.
 */
export async function benchGateway(report: Report): Promise<void> {
  const upstream = await startLightUpstream();
  const started = [];
  try {
    const bare = await startPassthrough(upstream);
    started.push(bare);
    const svc = await startSvc(upstream, { isAllOn: true });
    started.push(svc);
    const svcAllOff = await startSvc(upstream, { isAllOn: false });
    started.push(svcAllOff);
    const peer = await startPeer(upstream);
    if (typeof peer === 'string') console.log(`  ${peer}`);
    else started.push(peer);
    const stand = {
      itself: upstreamItself(upstream),
      bare,
      svc,
      svcAllOff,
      peer: typeof peer === 'string' ? undefined : peer,
    };
    await benchAll(report, stand, upstream);
    for (const one of started.splice(0)) await one.stop();
    const fresh = await startSvc(upstream, { isAllOn: true });
    started.push(fresh);
    await reportMemory(report, fresh);
  } finally {
    for (const one of started) await one.stop();
    await upstream.stop();
  }
}

async function benchAll(report: Report, stand: Stand, upstream: LightUpstream): Promise<void> {
  const { itself, bare, svc, peer } = stand;
  const targets = [itself, bare, svc, ...(peer ? [peer] : [])];
  for (const stream of [false, true]) {
    await warmUp(targets, stream);
    for (const callers of [1, CROWD]) {
      const rounds = await byTurns(targets, { stream, callers });
      reportTurns(report, stand, rounds, { stream, callers });
    }
  }
  await reportSwitches(report, stand);
  await reportStreams(report, [bare, svc]);
  await reportLeaving(report, [bare, svc], upstream);
}

type Rounds = ReadonlyMap<Target, readonly Heard[]>;

async function warmUp(targets: readonly Target[], stream: boolean): Promise<void> {
  for (const target of targets) await applyLoad(target, { stream, callers: CROWD, ms: WARM_UP_MS });
}

/** Every target in each round, each round begun by another one. */
async function byTurns(targets: readonly Target[], load: Pick<Load, 'stream' | 'callers'>): Promise<Rounds> {
  const rounds = new Map(targets.map((target) => [target, [] as Heard[]]));
  for (let round = 0; round < ROUNDS; round++)
    for (let turn = 0; turn < targets.length; turn++) {
      const target = targets[(round + turn) % targets.length];
      if (target) rounds.get(target)?.push(await applyLoad(target, { ...load, ms: TURN_MS }));
    }
  return rounds;
}

function reportTurns(
  report: Report,
  { bare, svc, peer }: Stand,
  rounds: Rounds,
  { stream, callers }: Pick<Load, 'stream' | 'callers'>,
): void {
  const rateOf = (target: Target) => of(rounds, target, ({ perSecond }) => perSecond);
  const times = (target: Target, base: Target) => timesOf(rounds, target, base);
  const added = (target: Target, share: number, when: 'firstMs' | 'lastMs') =>
    addedOver(rounds, bare, target, (heard) => quantile(heard[when], share));
  const lines = [...rounds.keys()].map((target): Line => {
    const goals: Goal[] = [];
    if (target === svc && callers === 1) {
      goals.push(atMost(added(svc, 0.5, 'lastMs'), 0.5, 'ms p50'));
      if (stream) goals.push(atMost(added(svc, 0.5, 'firstMs'), 1, 'ms first'));
    }
    if (target === svc && callers > 1) {
      goals.push(atLeast(times(svc, bare), 0.6, 'of bare'));
      if (peer) goals.push(atLeast(times(svc, peer), 5, 'x Portkey'));
    }
    return {
      what: target.name,
      cells: [
        digits(of(rounds, target, ({ lastMs }) => quantile(lastMs, 0.5))),
        ...[0.5, 0.95, 0.99].map((share) => shownAdded(added(target, share, 'lastMs'))),
        shownAdded(added(target, 0.5, 'firstMs')),
        digits(rateOf(target)),
        digits(times(target, bare)),
        peer ? digits(times(target, peer)) : '-',
        digits(of(rounds, target, ({ cpuUs }) => cpuUs)),
      ],
      goals,
    };
  });
  report.table({
    title: `${stream ? 'streamed' : 'whole'}, ${callers} at a time`,
    columns: ['p50 ms', '+p50', '+p95', '+p99', '+first', 'req/s', 'x bare', 'x Portkey', 'cpu us'],
    lines,
    notes: [
      '+: milliseconds over the bare passthrough in the same round; +first: until the first byte of content, p50',
      ...(peer ? ['Portkey with the last HTTP server of its own with which its streams work: 1.13.8'] : []),
    ],
  });
}

async function reportSwitches(report: Report, { svc, svcAllOff }: Stand): Promise<void> {
  await warmUp([svcAllOff, svc], false);
  const rounds = await byTurns([svcAllOff, svc], { stream: false, callers: CROWD });
  const rate = (target: Target) => of(rounds, target, ({ perSecond }) => perSecond);
  const share = timesOf(rounds, svc, svcAllOff);
  const line = (what: string, target: Target, goals: Goal[] = []): Line => ({
    what,
    cells: [rate(target), timesOf(rounds, target, svcAllOff), of(rounds, target, ({ cpuUs }) => cpuUs)].map(
      digits,
    ),
    goals,
  });
  report.table({
    title: `what is on, ${CROWD} at a time`,
    columns: ['req/s', 'x off', 'cpu us'],
    lines: [
      line('no limit, no budget, no log', svcAllOff),
      line('rate limit, budget, request log', svc, [atLeast(share, 0.8, 'of off')]),
    ],
    notes: ['keys are checked and daily sums are kept in both: they have no switch'],
  });
}

/** Many slow streams at once: nobody waits longer between two events than the upstream lets them. */
async function reportStreams(report: Report, targets: readonly Target[]): Promise<void> {
  const lines: Line[] = [];
  let bareGap = Number.NaN;
  for (const target of targets) {
    const heard = await applyLoad(target, {
      callers: STREAMS,
      requests: STREAMS,
      stream: true,
      model: PACED_MODEL,
    });
    const gap = Math.max(...heard.gapMs);
    if (Number.isNaN(bareGap)) bareGap = gap;
    lines.push({
      what: target.name,
      cells: [
        digits(quantile(heard.firstMs, 0.5)),
        digits(Math.max(...heard.firstMs)),
        digits(quantile(heard.gapMs, 0.5)),
        digits(gap),
        String(heard.lastMs.length),
      ],
      goals: target === targets[0] ? [] : [atMost(gap - bareGap, PACE.tickMs, 'ms over bare')],
    });
  }
  report.table({
    title: `${STREAMS} streams at once, an event each ${PACE.tickMs} ms`,
    columns: ['first p50', 'most', 'gap p50', 'most', 'whole'],
    lines,
    notes: ['first: until the first event, ms; gap: the longest silence within a stream, ms'],
  });
}

/** How long after a caller left the upstream is left too. */
async function reportLeaving(
  report: Report,
  targets: readonly Target[],
  upstream: LightUpstream,
): Promise<void> {
  const lines: Line[] = [];
  for (const target of targets) {
    const times: number[] = [];
    for (let i = 0; i < LEAVERS; i++) times.push(await leave(target, upstream));
    lines.push({
      what: target.name,
      cells: [median(times), quantile(times, 0.95), Math.max(...times)].map(digits),
      goals: target === targets[0] ? [] : [atMost(quantile(times, 0.95), 100, 'ms p95')],
    });
  }
  report.table({ title: 'the caller leaves a stream', columns: ['p50 ms', 'p95 ms', 'most ms'], lines });
}

async function leave({ port, path, headers }: Target, upstream: LightUpstream): Promise<number> {
  const before = await upstream.left();
  const leaving = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: SILENT_MODEL,
      stream: true,
      messages: [{ role: 'user', content: 'a b c d e' }],
    }),
    signal: leaving.signal,
  });
  await response.body?.getReader().read();
  const begun = performance.now();
  leaving.abort();
  while ((await upstream.left()) === before) await Bun.sleep(0);
  return performance.now() - begun;
}

/** A daemon that has done nothing before. What is garbage counts while it works, not when it is at rest again. */
async function reportMemory(report: Report, svc: Target): Promise<void> {
  const resident = () => memoryOf([svc.pid]).residentMb;
  const before = resident();
  const samples: number[] = [];
  for (let i = 0; i < SAMPLES; i++) {
    const requests = Math.ceil(REQUESTS / SAMPLES);
    await applyLoad(svc, { callers: CROWD, requests, stream: i % 2 === 1 });
    samples.push(resident());
  }
  await Bun.sleep(REST_MS);
  const after = resident();
  const slope = slopeOf(samples.slice(SAMPLES / 2)) * SAMPLES;
  report.table({
    title: `memory of svc over ${REQUESTS} requests`,
    columns: ['before', 'middle', 'most', 'after', 'slope'],
    lines: [
      {
        what: 'resident, MB',
        cells: [before, median(samples), Math.max(...samples), after, slope].map(digits),
        goals: [atMost(after, 130, 'MB'), atMost(slope, 20, 'MB more')],
      },
    ],
    notes: [
      `middle, most: under load, half of it streams; after: ${REST_MS / 1000} s later`,
      `slope: by least squares over the second half, MB for ${REQUESTS} requests`,
    ],
  });
}

/** The slope of the line through these values, one a step (least squares). */
function slopeOf(values: readonly number[]): number {
  const [meanX, meanY] = [
    (values.length - 1) / 2,
    values.reduce((sum, value) => sum + value, 0) / values.length,
  ];
  const over = values.reduce((sum, value, x) => sum + (x - meanX) * (value - meanY), 0);
  const under = values.reduce((sum, _, x) => sum + (x - meanX) ** 2, 0);
  return over / under;
}

function of(rounds: Rounds, target: Target, read: (heard: Heard) => number): number {
  return median((rounds.get(target) ?? []).map(read));
}

/** How many times as many requests a second a target serves as another one, round by round, in the middle. */
function timesOf(rounds: Rounds, target: Target, base: Target): number {
  const floor = rounds.get(base) ?? [];
  const own = rounds.get(target) ?? [];
  return median(own.map(({ perSecond }, round) => perSecond / (floor[round]?.perSecond ?? Number.NaN)));
}

/** How much more a target takes than the bare passthrough, round by round, in the middle. */
function addedOver(rounds: Rounds, bare: Target, target: Target, read: (heard: Heard) => number): number {
  const floor = rounds.get(bare) ?? [];
  const own = rounds.get(target) ?? [];
  return median(own.map((heard, round) => read(heard) - read(floor[round] ?? heard)));
}

function shownAdded(ms: number): string {
  return ms > 0 ? `+${digits(ms)}` : digits(ms);
}

if (import.meta.main) await Report.of(benchGateway);
