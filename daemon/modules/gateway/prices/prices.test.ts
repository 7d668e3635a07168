import { beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Dataset, loadDataset } from '../../providers/index.ts';
import type { Usage } from '../wire/usage.ts';
import { readPrices } from './own-prices.ts';
import { PriceBook } from './price-book.ts';
import { PriceSheet } from './price-sheet.ts';
import { worstCase } from './worst-case.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const OWN = { 'mine/*': { input: 1 }, 'mine/large': { input: 2, output: 4 }, 'azure/gpt-4o': { output: 1 } };
let dataset: Dataset;
let book: PriceBook;

beforeAll(async () => {
  dataset = await loadDataset();
  book = new PriceBook({ now: () => NOW }, readPrices(OWN), async () => dataset);
  await book.open();
});

const PROVIDERS = [
  'openai',
  'anthropic',
  'google',
  'bedrock',
  'mistral',
  'groq',
  'deepseek',
  'xai',
  'openrouter',
];

const usages: fc.Arbitrary<Usage> = fc
  .record({
    input: fc.nat(600_000),
    output: fc.nat(50_000),
    shares: fc.tuple(fc.nat(100), fc.nat(100), fc.nat(100)),
  })
  .map(({ input, output, shares: [cached, written, thought] }) => {
    const cachedInput = Math.floor((input * cached) / 200);
    const cacheWrite = Math.floor((input * written) / 200);
    return { input, output, cachedInput, cacheWrite, reasoning: Math.floor((output * thought) / 100) };
  });

test('costs what the data set says, for every model of the large providers and any use', () => {
  const models = PROVIDERS.flatMap((provider) =>
    dataset.modelsOf(provider).map(({ id }) => ({ provider, id })),
  ).filter(
    ({ provider, id }) => dataset.priceOf(provider, id, new Date(NOW))?.price.input_mtok !== undefined,
  );
  expect(models.length).toBeGreaterThan(300);
  fc.assert(
    fc.property(fc.constantFrom(...models), usages, ({ provider, id }, usage) => {
      const said = dataset.costOf(
        provider,
        id,
        {
          input_tokens: usage.input,
          cache_read_tokens: usage.cachedInput,
          cache_write_tokens: usage.cacheWrite,
          output_tokens: usage.output,
          output_reasoning_tokens: usage.reasoning,
        },
        new Date(NOW),
      );
      const cost = book.cost(`${provider}/${id}`, usage);
      expect(cost).toBeDefined();
      expect(Math.abs((cost ?? 0) - (said ?? 0) * 1e6)).toBeLessThanOrEqual(1);
    }),
    { numRuns: 300 },
  );
});

describe('a price', () => {
  test('that nobody knows is not 0', () => {
    expect(book.cost('openai/not-a-model', { input: 10, output: 10 })).toBeUndefined();
    expect(book.cost('my-own/gpt-4o', { input: 10, output: 10 })).toBeUndefined();
    expect(book.cost('openai/dall-e-3', { input: 0, output: 0, images: 1 })).toBeUndefined();
    expect(new PriceSheet({ input_mtok: 3 }).cost({ input: 0, output: 0, images: 2 })).toBeUndefined();
    expect(new PriceSheet({}).cost({ input: 1, output: 1 })).toBeUndefined();
  });

  test('of the configuration goes before that of the data set', () => {
    expect(book.cost('mine/large', { input: 1000, output: 1000 })).toBe(6000);
    expect(book.cost('mine/small', { input: 1000, output: 0 })).toBe(1000);
    expect(book.cost('azure/gpt-4o', { input: 0, output: 1000 })).toBe(1000);
  });

  test.each([
    [{ large: { input: 1 } }, 'gateway.prices.large'],
    [{ 'a/b': 1 }, 'gateway.prices.a/b'],
    [{ 'a/b': { in: 1 } }, 'gateway.prices.a/b.in'],
    [{ 'a/b': { input: -1 } }, 'gateway.prices.a/b.input'],
  ])('of the configuration that is wrong is named: %j', (setting, field) => {
    expect(() => readPrices(setting)).toThrow(field);
  });

  test('of this machine is 0', () => {
    expect(book.cost('local/echo', { input: 10, output: 10 })).toBe(0);
  });

  test('of a tier holds for the whole request', () => {
    const sheet = new PriceSheet({
      input_mtok: { base: 1, tiers: [{ start: 1000, price: 2 }] },
      output_mtok: 10,
    } as never);
    expect(sheet.cost({ input: 1000, output: 0 })).toBe(1000);
    expect(sheet.cost({ input: 1001, output: 1 })).toBe(2012);
  });

  test('of sound counts seconds', () => {
    expect(book.cost('openai/whisper-1', { input: 0, output: 0, seconds: 60 })).toBe(6000);
  });

  test('is at least a millionth of a dollar when it is not free', () => {
    expect(new PriceSheet({ input_mtok: 0.02 }).cost({ input: 1, output: 0 })).toBe(1);
  });
});

describe('the most that a request may take', () => {
  const say = (content: unknown, more: object = {}) => ({
    model: 'm',
    messages: [{ role: 'user', content }],
    ...more,
  });

  test('grows with the prompt, and counts letters of any script', () => {
    const plain = worstCase(say('word '.repeat(3000))).input;
    expect(plain).toBeGreaterThan(3000);
    expect(worstCase(say('\u6f22'.repeat(3000))).input).toBeGreaterThanOrEqual(3000);
  });

  test('takes pictures for pictures, not for text', () => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(4_000_000)}` } };
    expect(worstCase(say([image])).input).toBeLessThan(3000);
  });

  test.each([
    [{}, 4096],
    [{ max_tokens: 10 }, 10],
    [{ max_completion_tokens: 20, max_tokens: 10 }, 20],
    [{ max_output_tokens: 30 }, 30],
    [{ max_tokens: 10, n: 3 }, 30],
    [{ max_tokens: -1 }, 4096],
    [{ max_tokens: null }, 4096],
  ])('output of %j is %d', (more, output) => {
    expect(worstCase(say('x', more)).output).toBe(output);
  });

  test('is no more than the model can read', () => {
    expect(worstCase(say('word '.repeat(10_000)), 500)).toEqual({ input: 500, output: 500 });
  });
});

test('of several limits of an answer the largest counts: providers choose as they like', () => {
  const request = { model: 'm', max_completion_tokens: 1, max_tokens: 9000, max_output_tokens: 50 };
  expect(worstCase(request).output).toBe(9000);
});
