import { expect, test } from 'bun:test';
import { ModelList } from './model-list.ts';

const models = (...ids: string[]) => ids.map((id) => ({ id, created: 0 }));

/** A list over a script of answers, with a clock that the test moves. */
function scripted(...script: Array<string | Error>) {
  const state = { now: 0, failures: 0, loads: 0 };
  const load = async () => {
    state.loads++;
    const next = script.shift();
    if (next === undefined || next instanceof Error) throw next ?? new Error('asked too often');
    return models(next);
  };
  const list = new ModelList(
    load,
    () => state.failures++,
    () => state.now,
  );
  return { state, ids: async () => (await list.get()).models.map(({ id }) => id) };
}

test('is fetched once a minute, and once for readers at the same time', async () => {
  const { state, ids } = scripted('a', 'b');
  expect(await Promise.all([ids(), ids()])).toEqual([['a'], ['a']]);
  state.now = 59_999;
  expect(await ids()).toEqual(['a']);
  expect(state.loads).toBe(1);
});

test('nobody waits for the second fetch: what is known is answered meanwhile', async () => {
  const { state, ids } = scripted('a', 'b');
  await ids();
  state.now = 60_001;
  expect(await ids()).toEqual(['a']);
  await Bun.sleep(0);
  expect(await ids()).toEqual(['b']);
});

test('a failure leaves an empty list, and is tried again after ten seconds', async () => {
  const { state, ids } = scripted(new Error('down'), 'a');
  expect(await ids()).toEqual([]);
  state.now = 9_999;
  expect(await ids()).toEqual([]);
  expect(state).toMatchObject({ loads: 1, failures: 1 });
  state.now = 10_001;
  await ids();
  await Bun.sleep(0);
  expect(await ids()).toEqual(['a']);
});

test('a later failure leaves the last list', async () => {
  const { state, ids } = scripted('a', new Error('down'));
  await ids();
  state.now = 60_001;
  await ids();
  await Bun.sleep(0);
  expect(await ids()).toEqual(['a']);
  expect(state.failures).toBe(1);
});
