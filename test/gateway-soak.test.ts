import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { budgets } from '../src/api/gateway/budgets.ts';
import { modelRoutes } from '../src/api/gateway/model-routes.ts';
import { type LoggedRequest, usage } from '../src/api/gateway/usage.ts';
import type { Value } from '../src/api/schema.ts';
import { type Client, createClient } from '../src/client/client.ts';
import { clientOf, until } from './support/scene.ts';
import { AnswerText, complaintOf, type Heard, wordsOf } from './support/soak/answer.ts';
import { type Kind, kindsInTurn, ROUTES } from './support/soak/kinds.ts';
import { growth, ProcessWatch } from './support/soak/process-watch.ts';
import { type Key, TwoTenants } from './support/tenants/two-tenants.ts';
import { startUpstream, type TestUpstream } from './support/upstream.ts';
import { startMessagesUpstream, type TestMessagesUpstream } from './support/upstream-anthropic.ts';
import { startGemini, type TestGemini } from './support/upstream-gemini.ts';

/** How long requests come. */
const SECONDS = Number(process.env.SVC_TEST_SOAK_SECONDS ?? 15);
const PER_SECOND = Number(process.env.SVC_TEST_SOAK_RATE ?? 200);
/** Before memory is watched: the runtime compiles what is hot, and caches fill. */
const WARM_UP_SECONDS = Math.min(60, SECONDS / 3);
const TICK_MS = 5;
const LOOK_MS = 250;
/**
 * A run of seconds has seen few collections, so that its slope says little: it finds a leak of 20 kB a request. One of
 * three minutes finds 700 bytes, one of ten 170.
 */
const MOST_GROWTH_MB_A_MINUTE = SECONDS >= 600 ? 2 : SECONDS >= 180 ? 8 : 240;
/** Connections to providers are kept for a while after the last call. */
const SPARE_FDS = 300;

setDefaultTimeout((SECONDS + 180) * 1000);

type Logged = Value<typeof LoggedRequest>;

interface Tenant {
  readonly name: string;
  readonly client: Client;
  readonly keys: readonly Key[];
}

/** One request that was made, and what was heard of it. */
interface Made {
  readonly tenant: Tenant;
  readonly kind: Kind;
  readonly id: number;
  readonly heard: Heard;
}

let chat: TestUpstream;
let quiet: TestUpstream;
let claude: TestMessagesUpstream;
let flash: TestGemini;
let scene: TwoTenants;
let tenants: readonly Tenant[];
const made: Made[] = [];

beforeAll(async () => {
  [chat, quiet, claude, flash] = await Promise.all([
    startUpstream(),
    startUpstream(),
    startMessagesUpstream(),
    startGemini(),
  ]);
  const keys = [chat.apiKey, chat.secondApiKey].map((api_key, i) => ({
    name: `key-${i}`,
    api_key,
    weight: 1 + i,
  }));
  const providers = {
    good: { base_url: chat.url, keys },
    other: { base_url: chat.url, keys },
    flaky: { base_url: chat.url, keys },
    reset: { base_url: chat.resetUrl, api_key: chat.apiKey, models: ['gpt-test'] },
    quiet: { base_url: quiet.url, api_key: quiet.apiKey },
    claude: { base_url: claude.url, api_key: claude.apiKey, dialect: 'anthropic' },
    flash: { base_url: flash.url, api_key: flash.apiKey, dialect: 'gemini' },
  };
  const price = { input: 2.5, output: 10 };
  const prices = Object.fromEntries(Object.keys(providers).map((name) => [`${name}/*`, price]));
  const env = { SVC_PROVIDERS: JSON.stringify(providers), SVC_GATEWAY_PRICES: JSON.stringify(prices) };
  scene = await TwoTenants.start({ env });
  const stranger = await scene.stranger('sam');
  const theirs = scene.fromPage(stranger.session);
  const newKey = { type: 'API_KEY_TYPE_USER', userId: stranger.userId };
  tenants = [
    await tenantOf('own', { 'x-svc-api-key': scene.daemon.apiKey }, {}),
    await tenantOf('theirs', theirs, newKey),
  ];
});

afterAll(async () => {
  await scene?.stop();
  await Promise.all([chat, quiet, claude, flash].map((upstream) => upstream?.stop()));
});

async function tenantOf(
  name: string,
  headers: Readonly<Record<string, string>>,
  more: object,
): Promise<Tenant> {
  const keys = [
    await scene.key(headers, { name: `${name}-1`, ...more }),
    await scene.key(headers, { name: `${name}-2`, ...more }),
  ];
  const { url } = scene.daemon;
  const client = name === 'own' ? clientOf(scene.daemon) : createClient({ url, apiKey: keys[0]?.key ?? '' });
  for (const [route, { targets, ...rest }] of Object.entries(ROUTES))
    await client.call(modelRoutes.PutModelRoute, {
      params: { name: route },
      body: { ...rest, targets: targets.map((target) => targetOf(target)) },
    });
  for (const subject of ['tenant', ...keys.map(({ id }) => id)])
    await client.call(budgets.SetBudget, { params: { subject }, body: { totalUsd: 1_000_000 } });
  return { name, client, keys };
}

function targetOf(name: string) {
  const slash = name.indexOf('/');
  return { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

/** Makes one request and hears it to its end, or to where its caller leaves. */
async function ask(key: Key, kind: Kind, id: number): Promise<Heard> {
  const answer = new AnswerText();
  const leaving = new AbortController();
  // The caller names its request, so that one whose answer it does not wait for is known as well.
  const requestId = `soak-${id}`;
  let status = 0;
  if (typeof kind.leaves === 'number') setTimeout(() => leaving.abort(), kind.leaves);
  try {
    const response = await fetch(`${scene.daemon.url}/compat/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key.key}`,
        'content-type': 'application/json',
        'x-request-id': requestId,
      },
      body: JSON.stringify(bodyOf(kind, id)),
      signal: leaving.signal,
    });
    status = response.status;
    if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
      answer.take((await response.json()) as never);
    else
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        answer.push(piece);
        if (kind.leaves === 'at-content' && answer.text !== '') leaving.abort();
      }
  } catch (error) {
    if (!leaving.signal.aborted) answer.error = `not an answer: ${error}`;
  }
  const { text, calls, ends, error } = answer;
  return { requestId, status, text, calls, ends, error };
}

function bodyOf({ model, stream, tools }: Kind, id: number): object {
  const named = (name: string) => ({ type: 'function', function: { name, parameters: PARAMETERS } });
  return {
    model,
    messages: [{ role: 'user', content: wordsOf(id) }],
    ...(stream ? { stream: true } : {}),
    ...(tools ? { tools: [named('read'), named('write')], tool_choice: 'required' } : {}),
  };
}

const PARAMETERS = { type: 'object', properties: { text: { type: 'string' } } };

/** Requests at their times, whether earlier ones are answered or not. */
async function soak(seconds: number): Promise<void> {
  const kinds = kindsInTurn();
  const begun = performance.now();
  const underWay = new Set<Promise<void>>();
  const first = made.length;
  for (let count = 0; count < seconds * PER_SECOND; await Bun.sleep(TICK_MS)) {
    const due = Math.min(seconds, (performance.now() - begun) / 1000) * PER_SECOND;
    for (; count < due; count++) {
      const one = begin(kinds.next().value, first + count).finally(() => underWay.delete(one));
      underWay.add(one);
    }
  }
  await Promise.all(underWay);
}

async function begin(kind: Kind, id: number): Promise<void> {
  const tenant = tenants[id % 2] as Tenant;
  const key = tenant.keys[(id >> 1) % 2] as Key;
  made.push({ tenant, kind, id, heard: await ask(key, kind, id) });
}

async function exported(client: Client): Promise<Logged[]> {
  const text = await (await client.open(usage.ExportRequests, {})).text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Logged);
}

const ENDINGS: Readonly<Record<Kind['end']['is'], readonly string[]>> = {
  answer: ['completed'],
  error: ['failed', 'refused'],
  cut: ['failed'],
  left: ['stopped'],
};
const micros = ({ costUsd = 0 }: { costUsd?: number }) => Math.round(costUsd * 1e6);

describe(`${PER_SECOND} requests a second with faults, for ${SECONDS} s`, () => {
  let watch: ProcessWatch;
  let rest: { fds: number };

  test('every answer is exactly what derives from its request, or a typed error', async () => {
    await soak(WARM_UP_SECONDS);
    await Bun.sleep(1000);
    watch = new ProcessWatch(scene.daemon.pid, LOOK_MS);
    rest = watch.look();
    await soak(SECONDS);
    const wrong = made.flatMap(({ kind, id, heard }) => complaintOf(kind, id, heard) ?? []);
    console.log(`  ${made.length} requests, ${wrong.length} of them answered wrongly`);
    expect(wrong.slice(0, 10)).toEqual([]);
  });

  test('providers are left by every caller that left, and no connection stays open', async () => {
    const { count } = await until(async () => {
      const seen = await quiet.seen();
      return seen.left === seen.count && seen;
    }, 10_000);
    expect(count).toBeGreaterThanOrEqual(made.filter(({ kind }) => kind.leaves === 'at-content').length);
    expect(count).toBeGreaterThan(0);
    const fds = watch.look().fds;
    console.log(`  open files: ${rest.fds} before, ${fds} after`);
    expect(fds).toBeLessThanOrEqual(rest.fds + SPARE_FDS);
  });

  test('memory does not grow', () => {
    watch.stop();
    const perMinute = growth(watch.samples, SECONDS >= 180 ? 12 : 3);
    const megabytes = watch.samples.map(({ residentMb }) => residentMb);
    console.log(
      `  memory: ${Math.min(...megabytes).toFixed(0)} to ${Math.max(...megabytes).toFixed(0)} MB, ${perMinute.toFixed(2)} MB a minute`,
    );
    expect(perMinute).toBeLessThan(MOST_GROWTH_MB_A_MINUTE);
  });

  for (const place of [0, 1])
    test(`the log of tenant ${place} has each request once, with what it took, and nothing is lost in the sums`, async () => {
      const tenant = tenants[place] as Tenant;
      const own = made.filter((one) => one.tenant === tenant);
      const log = await until(async () => {
        const found = await exported(tenant.client);
        return found.length >= own.length && found;
      }, 30_000);
      const rows = new Map(log.map((row) => [row.requestId ?? '', row]));
      expect(rows.size).toBe(log.length);
      console.log(`  tenant ${place}: ${own.length} requests made, ${log.length} rows in the log`);
      expect(log.length).toBe(own.length);
      expect(problemsIn(own, rows).slice(0, 10)).toEqual([]);
      await expectBalanced(tenant, log);
    });
});

/** What is wrong with the rows of these requests. */
function problemsIn(own: readonly Made[], rows: ReadonlyMap<string, Logged>): string[] {
  return own.flatMap(({ kind, heard }) => {
    const row = rows.get(heard.requestId);
    return isRight(kind, row) ? [] : [`${kind.name}: ${JSON.stringify(row ?? heard)}`];
  });
}

/** Whoever was asked has taken tokens: of both kinds when it answered, of the prompt when it was left or broke off. */
function isRight({ model, end }: Kind, row: Logged | undefined): boolean {
  if (row?.requestedModel !== model || !ENDINGS[end.is].includes(row.ending ?? '')) return false;
  const taken = {
    answer: [row.inputTokens, row.outputTokens, micros(row)],
    cut: [row.inputTokens],
    left: [row.inputTokens],
    error: [],
  };
  return taken[end.is].every((one) => Number(one) > 0);
}

/** That the log, the sums of the days and what is spent of the budgets are the same, to the millionth of a dollar. */
async function expectBalanced({ client, keys }: Tenant, log: readonly Logged[]): Promise<void> {
  const sum = (read: (one: Logged) => number, key?: string) =>
    log.reduce((all, one) => (key === undefined || one.key === key ? all + read(one) : all), 0);
  const { total = {} } = await client.call(usage.GetUsage);
  expect(Number(total.requests)).toBe(log.length);
  expect(Number(total.inputTokens)).toBe(sum(({ inputTokens = '0' }) => Number(inputTokens)));
  expect(Number(total.outputTokens)).toBe(sum(({ outputTokens = '0' }) => Number(outputTokens)));
  expect(micros(total)).toBe(sum(micros));
  expect(sum(micros)).toBeGreaterThan(0);
  const { budgets: list = [] } = await client.call(budgets.ListBudgets);
  expect(list.length).toBe(1 + keys.length);
  for (const { subject, total: spent } of list) {
    const key = subject === 'tenant' ? undefined : subject;
    expect(micros({ costUsd: spent?.spentUsd })).toBe(sum(micros, key));
    expect(spent?.reservedUsd ?? 0).toBe(0);
  }
}
