import { expect, setDefaultTimeout, test } from 'bun:test';
import { callsOf, type Told } from './support/agent-client.ts';
import type { Life } from './support/agent-survivor/survivor.ts';
import { type Found, World } from './support/agent-survivor/world.ts';
import { driverCases } from './support/drivers.ts';
import { NOTHING } from './support/traces.ts';

/** How often the daemon is killed, and how many sessions go on meanwhile. */
const KILLS = Number(process.env.SVC_TEST_AGENT_KILLS ?? 6);
const CROWD = Number(process.env.SVC_TEST_AGENT_CROWD ?? 6);
const SEED = Number(process.env.SVC_TEST_AGENT_SEED ?? Math.floor(Math.random() * 1e9));
const MOST_MS = 120_000 + KILLS * 6_000;

setDefaultTimeout(MOST_MS);

const wanted = process.env.SVC_TEST_AGENT_DRIVER ?? 'namespace';
const driver = driverCases.find(({ name }) => name === wanted);

test('turns go on through kills of the daemon: each effect once, no approval and no event lost', async () => {
  console.log(`seed ${SEED}`);
  const world = await World.start({ kills: KILLS, crowd: CROWD, seed: SEED, driver });
  try {
    const lives = await world.live();
    const found = await world.found(lives);
    for (const life of lives) check(life, found);
    for (const life of lives) await world.checkReplay(life);
    expect(await world.violations()).toEqual([]);
    world.report(lives);
    expect(await world.left()).toEqual(NOTHING);
  } finally {
    await world.end();
  }
});

function check(life: Life, found: Found): void {
  const turn = life.session.turns?.[0];
  const wasCancelled = life.isCancelled && turn?.status === 'TURN_STATUS_FAILED';
  const wanted = wasCancelled
    ? ['TURN_STATUS_FAILED', expect.stringContaining('Cancelled')]
    : ['TURN_STATUS_COMPLETED', undefined];
  expect([life.sessionId, turn?.status, turn?.error]).toEqual([life.sessionId, ...wanted]);
  for (const { effects = [], commands = [], memories = [] } of life.deeds) {
    for (const id of effects) checkOnce(id, found.effects, found, wasCancelled);
    for (const id of commands) checkOnce(id, found.commands, found, wasCancelled);
    for (const id of memories) checkOnce(id, found.memories, found, wasCancelled);
  }
  for (const { success } of callsOf(turn)) expect(success).toBeBoolean();
  checkEvents(life);
}

/** An effect was had once; what nobody knows and what was cancelled was had once at most. */
function checkOnce(
  id: string,
  counts: ReadonlyMap<string, number>,
  { unknown }: Found,
  wasCancelled: boolean,
): void {
  const times = counts.get(id) ?? 0;
  const allowed = wasCancelled || unknown.has(id) ? [0, 1] : [1];
  expect([id, allowed.includes(times) || `had ${times} times`]).toEqual([id, true]);
}

/** What was begun is over, and over once. */
function checkEvents({ told, asides }: Life): void {
  const ids = (types: readonly string[], field: 'toolCallId' | 'reviewId' | 'userInputId' | 'textDelta') =>
    told
      .filter(({ result }) => types.includes(result?.type ?? ''))
      .map(({ result }: Told) => result?.[field] ?? '')
      .toSorted();
  const once = (list: readonly string[]) => [...new Set(list)];
  const over = ids(['tool_call.end', 'tool_call.error'], 'toolCallId');
  expect(over).toEqual(once(over));
  expect(over).toEqual(expect.arrayContaining(ids(['tool_call.start'], 'toolCallId')));
  const cancelled = ids(['approval.cancelled'], 'reviewId').length;
  expect(ids(['approval.resolved'], 'reviewId').length + cancelled).toBe(
    ids(['approval.requested'], 'reviewId').length,
  );
  const received = ids(['user_input.received'], 'userInputId');
  expect(received).toEqual(once(received));
  const heard = ids(['steer.received'], 'textDelta');
  expect(heard).toEqual(once(heard));
  expect(heard).toEqual(expect.arrayContaining(told.some(isCancelledEnd) ? [] : [...asides]));
  expect(told.filter(({ result }) => result?.type === 'turn.end')).toHaveLength(1);
}

const isCancelledEnd = ({ result }: Told) =>
  result?.type === 'turn.end' && result.finishReason === 'cancelled';
