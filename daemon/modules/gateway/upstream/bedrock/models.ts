/** What is known of a Bedrock model by its id, or by that of an inference profile made of it. */
export interface Traits {
  readonly isClaude: boolean;
  readonly isNova: boolean;
  readonly isGptOss: boolean;
  /** Its ids of calls have nine letters and digits. */
  readonly isMistral: boolean;
  /** Can be made to call a tool. */
  readonly isForced: boolean;
  /** Of a Claude model, as 45 for 4.5; 0 when its name does not tell. */
  readonly generation: number;
  /** Answers by a JSON schema of its own accord; others are made to by a tool. */
  readonly hasSchemas: boolean;
  /** Has points up to which a prompt is cached. */
  readonly hasCache: boolean;
}

/** Families whose models all take a schema (Bedrock user guide: Get validated JSON results from models). */
const SCHEMA_FAMILIES =
  /(^|\.)(openai|qwen|google|nvidia|minimax|moonshot|moonshotai|zai)\.|deepseek\.v3|mistral\.(ministral|magistral|voxtral|mistral-large-3)/;
const SCHEMA_CLAUDES = /claude-(sonnet-4-5|opus-4-5|opus-4-6)/;

/** Reads a model's id. */
export function traitsOf(model: string): Traits {
  const isClaude = /anthropic|claude/.test(model);
  const isNova = /amazon\.nova/.test(model);
  const generation = isClaude ? generationOf(model) : 0;
  return {
    isClaude,
    isNova,
    isGptOss: /openai\.gpt-oss/.test(model),
    isMistral: /(^|[./])mistral\./.test(model),
    isForced: generation < 51,
    generation,
    hasSchemas: SCHEMA_CLAUDES.test(model) || (!isClaude && SCHEMA_FAMILIES.test(model)),
    hasCache: isClaude || isNova,
  };
}

/** `claude-3-7-sonnet` is 37, `claude-sonnet-4-20250514` is 40, `claude-opus-4-6` is 46. */
function generationOf(model: string): number {
  const found = /claude-(?:[a-z]+-)?(\d)(?:-(\d)(?!\d))?/.exec(model);
  return found ? Number(found[1]) * 10 + Number(found[2] ?? 0) : 0;
}
