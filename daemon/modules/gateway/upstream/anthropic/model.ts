/** What a model of this dialect accepts, as far as its name tells. */
export interface ModelTraits {
  /** How it is told to think: by effort alone, by a budget of tokens, or not at all. */
  readonly thinking: 'adaptive' | 'budget' | 'none';
  /** `output_config.effort`, and its strongest level. */
  readonly effort: 'none' | 'high' | 'max' | 'xhigh';
  /** `temperature`, `top_p` and `top_k`: any of them, one of the first two at a time, or none. */
  readonly sampling: 'any' | 'one' | 'none';
  /** `output_config.format` and `strict` tools. */
  readonly structured: boolean;
  /** `tool_choice` may make it call a tool. */
  readonly forcible: boolean;
  /** Instructions may stand between the turns, as messages of the role `system`. */
  readonly midSystem: boolean;
  /** The longest answer that it is asked for when the caller names no limit, in tokens. */
  readonly answerTokens: number;
}

/** Another vendor's model behind this dialect: the dialect as it was at first. */
const FOREIGN: ModelTraits = {
  thinking: 'budget',
  effort: 'none',
  sampling: 'any',
  structured: false,
  forcible: true,
  midSystem: false,
  answerTokens: 8192,
};

const known = new Map<string, ModelTraits>();
const MOST_KNOWN = 500;

/**
 * The traits of a model, by its family's version: `claude-opus-4-8`, `claude-3-7-sonnet-20250219`. A model of the family
 * without a version is taken for a new one. Source: platform.claude.com, Thinking, Effort, Structured outputs, What's new in each model.
 */
export function traitsOf(model: string): ModelTraits {
  const remembered = known.get(model);
  if (remembered) return remembered;
  const traits = readTraits(model);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(model, traits);
  return traits;
}

function readTraits(model: string): ModelTraits {
  if (!model.includes('claude')) return FOREIGN;
  const version = versionOf(model);
  const isOpus = model.includes('opus');
  return {
    thinking: version >= 4.6 ? 'adaptive' : version >= 3.7 ? 'budget' : 'none',
    effort: effortOf(version, isOpus),
    sampling: version >= 4.7 ? 'none' : version >= 4.1 ? 'one' : 'any',
    structured: version >= 4.5 || (isOpus && version >= 4.1),
    forcible: version <= 5,
    midSystem: version >= 4.8 && version < Number.POSITIVE_INFINITY,
    answerTokens: answerTokensOf(version),
  };
}

function effortOf(version: number, isOpus: boolean): ModelTraits['effort'] {
  if (version >= 4.7) return 'xhigh';
  if (version >= 4.6) return 'max';
  return isOpus && version >= 4.5 ? 'high' : 'none';
}

/** Below what every model of the version writes at most. */
function answerTokensOf(version: number): number {
  if (version >= 4.6) return 64_000;
  if (version >= 3.7) return 32_000;
  return version >= 3.5 ? 8192 : 4096;
}

/** 4.8 for `claude-opus-4-8`, 5 for `claude-fable-5`, 3.7 for `claude-3-7-sonnet-20250219`; a date is no version. */
function versionOf(model: string): number {
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model);
  return match ? Number(`${match[1]}.${match[2] ?? 0}`) : Number.POSITIVE_INFINITY;
}
