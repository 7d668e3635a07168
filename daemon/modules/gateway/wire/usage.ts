/** What one call of a model took, as its provider reports it. Counts that a provider does not report are absent. */
export interface Usage {
  /** Tokens of the prompt, those from a cache and those written to one included. */
  readonly input: number;
  /** Tokens of the answer, those of reasoning included. */
  readonly output: number;
  /** Of `input`: read from the provider's cache. */
  readonly cachedInput?: number;
  /** Of `input`: written to the provider's cache. */
  readonly cacheWrite?: number;
  /** Of `output`: spent on reasoning. */
  readonly reasoning?: number;
  /** Pictures that were made. */
  readonly images?: number;
  /** Seconds of sound that were read or made. */
  readonly seconds?: number;
  /** Characters that were spoken. */
  readonly characters?: number;
  /** Searches of a reranker. */
  readonly searchUnits?: number;
  /** The provider said nothing, so the counts are a guess from the length of the texts. */
  readonly estimated?: true;
}
