import { loadDataset } from '../../daemon/modules/providers/index.ts';
import { INSTANCE, OTHER, Scene } from '../../daemon/modules/providers/testing/scene.ts';
import { providerKeys } from '../../src/api/providers/keys.ts';
import { atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const CALLS = sizeFromEnv('BENCH_CALLS', 1_000_000);
const PROVIDERS = 50;
const USAGE = { input_tokens: 1200, cache_read_tokens: 200, output_tokens: 300 };

/** What every call of a model pays for its providers, and what a change of them costs. */
export async function benchProviders(report: Report): Promise<void> {
  const scene = new Scene({ OPENAI_API_KEY: 'sk-bench-0000000000' });
  try {
    await setUp(scene);
    report.table({
      title: 'providers, in memory',
      columns: ['ns', 'ratio'],
      lines: lookups(scene),
      notes: [`${PROVIDERS} providers of a tenant; the ratio is to a Map that holds the list`],
    });
    report.table({ title: 'providers, now and then', columns: ['ms'], lines: await rarely(scene) });
  } finally {
    await scene.close();
  }
}

async function setUp(scene: Scene): Promise<void> {
  const providers = Array.from({ length: PROVIDERS }, (_, i) => [
    `lab-${i}`,
    { base_url: 'https://lab.example/v1', api_key: `sk-bench-${i}-0123456789` },
  ]);
  const yamlContent = JSON.stringify({ providers: Object.fromEntries(providers) });
  const { providerConfig } = await import('../../src/api/providers/config.ts');
  await scene.call(OTHER, providerConfig.SaveConfigYAML, { body: { yamlContent } });
}

function lookups(scene: Scene): Line[] {
  const list = scene.directory.of(OTHER);
  const map = new Map([[OTHER, list]]);
  const floor = perCall(() => map.get(OTHER));
  const line = (what: string, ns: number, most?: number): Line => ({
    what,
    cells: [digits(ns), digits(ns / floor)],
    ...(most === undefined ? {} : { goals: [atMost(ns, most, 'ns')] }),
  });
  return [
    line('a Map', floor),
    line(
      'of a tenant with its own',
      perCall(() => scene.directory.of(OTHER)),
      200,
    ),
    line(
      'of a tenant without',
      perCall(() => scene.directory.of('org_third')),
      200,
    ),
    line(
      'noting a use',
      perCall(() => scene.directory.used(OTHER, 'lab-1')),
      1000,
    ),
  ];
}

async function rarely(scene: Scene): Promise<Line[]> {
  const begin = performance.now();
  const dataset = await loadDataset();
  const load = performance.now() - begin;
  dataset.costOf('openai', 'gpt-4o', USAGE);
  const cost = perCall(() => dataset.costOf('openai', 'gpt-4o', USAGE), CALLS / 100) / 1e6;
  const change = await changeOf(scene);
  return [
    { what: 'loading the data set', cells: [digits(load)], goals: [atMost(load, 250, 'ms')] },
    { what: 'counting what a use costs', cells: [cost.toFixed(4)], goals: [atMost(cost, 0.1, 'ms')] },
    {
      what: 'switching a key, first list after it',
      cells: [digits(change)],
      goals: [atMost(change, 50, 'ms')],
    },
  ];
}

async function changeOf(scene: Scene): Promise<number> {
  const [one] =
    (await scene.call(OTHER, providerKeys.ListProviderAPIKeys, { params: { providerConfigId: 'lab-1' } }))
      .keys ?? [];
  const params = { keyId: one?.id ?? '' };
  const times: number[] = [];
  for (let i = 0; i < 20; i++) {
    const begin = performance.now();
    await scene.call(OTHER, providerKeys.ToggleAPIKey, { params, body: { isActive: i % 2 === 1 } });
    scene.directory.of(OTHER);
    scene.directory.of(INSTANCE);
    times.push(performance.now() - begin);
  }
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
}

/** Nanoseconds of one call, after some that let the runtime compile it. */
function perCall(work: () => unknown, calls = CALLS): number {
  for (let i = 0; i < calls / 10; i++) work();
  const begin = Bun.nanoseconds();
  for (let i = 0; i < calls; i++) work();
  return (Bun.nanoseconds() - begin) / calls;
}

if (import.meta.main) await Report.of(benchProviders);
