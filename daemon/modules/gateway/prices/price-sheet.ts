import type { KnownPrice } from '../../providers/index.ts';
import type { Usage } from '../wire/usage.ts';

/** A price as the data set has it: US dollars for a unit, or by how much goes in. */
type Amount = KnownPrice['price'][string];

const MICROS = 1_000_000;
const SECONDS_OF_HOUR = 3600;
const THOUSAND = 1000;

/**
 * What a model costs, ready to be multiplied. Units as in @pydantic/genai-prices: `*_mtok` dollars for a million
 * tokens, `*_hours` for an hour of sound, `requests_kcount` for a thousand requests. A tier holds for the whole
 * request as soon as more goes in than where it begins. What has no price of its own costs what it is a part of:
 * tokens from a cache as other tokens of the prompt, reasoning as other tokens of the answer.
 */
export class PriceSheet {
  /** In the order in which they are counted below. Undefined when there is no price. */
  private readonly input: Amount;
  private readonly cachedInput: Amount;
  private readonly cacheWrite: Amount;
  private readonly output: Amount;
  private readonly reasoning: Amount;
  private readonly soundHour: Amount;
  private readonly request: Amount;

  constructor(price: KnownPrice['price']) {
    this.input = price.input_mtok;
    this.cachedInput = price.cache_read_mtok ?? this.input;
    this.cacheWrite = price.cache_write_mtok ?? this.input;
    this.output = price.output_mtok;
    this.reasoning = price.output_reasoning_mtok ?? this.output;
    this.soundHour = price.input_audio_hours ?? price.audio_hours;
    this.request = price.requests_kcount;
  }

  /**
   * Millionths of a US dollar, rounded; at least 1 when it is not free. Undefined when nothing of what was used has a
   * price here: pictures, characters and searches are counted by providers in units that the data set does not have.
   */
  cost(usage: Usage): number | undefined {
    if (!this.knows(usage)) return undefined;
    const { input, output, cachedInput = 0, cacheWrite = 0, reasoning = 0, seconds = 0 } = usage;
    const plain = Math.max(0, input - cachedInput - cacheWrite);
    // Dollars for a million tokens are millionths of a dollar for one.
    const tokens =
      plain * at(this.input, input) +
      cachedInput * at(this.cachedInput, input) +
      cacheWrite * at(this.cacheWrite, input) +
      Math.max(0, output - reasoning) * at(this.output, input) +
      reasoning * at(this.reasoning, input);
    const others =
      (seconds / SECONDS_OF_HOUR) * at(this.soundHour, input) + at(this.request, input) / THOUSAND;
    return rounded(tokens + others * MICROS);
  }

  private knows({ input, output, images, seconds, characters, searchUnits }: Usage): boolean {
    if (this.request !== undefined) return true;
    if (seconds && this.soundHour !== undefined) return true;
    if (input > 0 || output > 0)
      return (input > 0 && this.input !== undefined) || (output > 0 && this.output !== undefined);
    const isOtherwise = Boolean(images || seconds || characters || searchUnits);
    return !isOtherwise && (this.input ?? this.output ?? this.soundHour) !== undefined;
  }
}

function at(amount: Amount, input: number): number {
  if (amount === undefined) return 0;
  if (typeof amount === 'number') return amount;
  let price = amount.base;
  for (const tier of amount.tiers) if (input > tier.start) price = tier.price;
  return price;
}

function rounded(micros: number): number {
  return micros > 0 ? Math.max(1, Math.round(micros)) : 0;
}
