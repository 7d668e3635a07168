import { describe, expect, test } from 'bun:test';
import { CATALOG } from './catalog.ts';
import { loadDataset } from './dataset.ts';

const dataset = await loadDataset();

describe('the data set', () => {
  test('is loaded once', async () => expect(await loadDataset()).toBe(dataset));

  test('knows the models of the large providers', () => {
    for (const name of ['openai', 'anthropic', 'google', 'bedrock', 'vertex', 'mistral', 'xai', 'voyage'])
      expect({ name, some: dataset.modelsOf(name).length > 5 }).toEqual({ name, some: true });
    expect(dataset.modelsOf('openai-of-mine')).toEqual([]);
  });

  test('finds the price of a model under its dated names', () => {
    const plain = dataset.priceOf('openai', 'gpt-4o');
    expect(plain?.price).toMatchObject({ input_mtok: 2.5, output_mtok: 10 });
    expect(dataset.priceOf('openai', 'gpt-4o-2024-11-20')?.entry.id).toBe('gpt-4o');
    expect(dataset.priceOf('openai', 'no-such-model')).toBeUndefined();
    expect(dataset.priceOf('lab', 'gpt-4o')).toBeUndefined();
  });

  test('counts what a use costs, cached tokens and tiers too', () => {
    expect(dataset.costOf('openai', 'gpt-4o', { input_tokens: 1000, output_tokens: 100 })).toBeCloseTo(
      0.0035,
      9,
    );
    const cached = { input_tokens: 1000, cache_read_tokens: 1000, output_tokens: 0 };
    expect(dataset.costOf('openai', 'gpt-4o', cached)).toBeCloseTo(0.00125, 9);
    const short = dataset.costOf('google', 'gemini-2.5-pro', { input_tokens: 100_000 }) ?? 0;
    const long = dataset.costOf('google', 'gemini-2.5-pro', { input_tokens: 400_000 }) ?? 0;
    expect(long).toBeGreaterThan(4 * short);
  });

  test('forgets names that it was asked for when they become too many', () => {
    for (let i = 0; i < 5000; i++) dataset.priceOf('jina', `model-${i}`);
    expect(dataset.costOf('openai', 'gpt-4o', { input_tokens: 1_000_000 })).toBeCloseTo(2.5, 9);
  });
});

test('every provider of the catalog has a family for most of its models', () => {
  for (const { name, families } of CATALOG.filter(
    (entry) => entry.families.length > 0 && entry.type === 'static',
  )) {
    const models = dataset.modelsOf(name);
    const without = models.filter(({ id }) => !families.some(({ pattern }) => pattern.test(id)));
    expect({ name, few: without.length <= models.length / 2 }).toEqual({ name, few: true });
  }
});
