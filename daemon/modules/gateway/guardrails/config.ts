import type { GuardrailConfig } from '../../../../src/api/gateway/guardrails.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { TEMPLATES } from './templates.ts';

/** What somebody gives for guardrails. What is absent follows the templates, then the instance, then DEFAULTS. */
export type GivenGuardrails = Value<typeof GuardrailConfig>;

type Complete<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]-?: Complete<NonNullable<T[K]>> }
    : T;

/** Guardrails with nothing absent. */
export type GuardrailSettings = Complete<GivenGuardrails>;

/** What asks the moderation API. */
export type ModeratedSettings = GuardrailSettings['inputGuardrails']['contentFiltering'];

/** The kinds of personal data that are known. */
export type PiiKind = Exclude<keyof GuardrailSettings['inputGuardrails']['piiDetection'], 'enabled'>;

const CATEGORY = { enabled: true, threshold: 0.7 };

const MODERATED: ModeratedSettings = {
  enabled: false,
  model: 'omni-moderation-latest',
  action: 'block',
  onFailure: 'block',
  categories: {
    hate: CATEGORY,
    harassment: CATEGORY,
    selfHarm: CATEGORY,
    sexual: CATEGORY,
    violence: CATEGORY,
  },
};

/** Where nobody says anything (behaviour: Guardrails). What asks another model waits until somebody switches it on. */
export const DEFAULTS: GuardrailSettings = {
  enabled: false,
  templates: [],
  inputGuardrails: {
    tokenLimits: { enabled: true, maxInputTokens: 100_000, maxTotalTokens: 200_000, action: 'truncate' },
    promptInjection: { enabled: true, action: 'block', keywords: [] },
    piiDetection: {
      enabled: true,
      ssn: 'block',
      creditCard: 'block',
      bankAccount: 'allow',
      medicalRecord: 'allow',
      email: 'redact',
      phone: 'redact',
      ipv4: 'redact',
    },
    contentFiltering: MODERATED,
  },
  outputGuardrails: {
    jailbreakDetection: { enabled: true, action: 'flag', keywords: [] },
    toxicity: MODERATED,
    codeExecution: { enabled: true, action: 'block' },
    hallucination: { enabled: false },
  },
};

/** What is in force: the stronger words later. Templates stand between the instance and the tenant. */
export function settingsOf(instance: GivenGuardrails, given: GivenGuardrails): GuardrailSettings {
  const templates = given.templates ?? instance.templates ?? [];
  const layers: readonly GivenGuardrails[] = [instance, ...templates.map((name) => TEMPLATES[name]), given];
  return layers.reduce<GuardrailSettings>((under, over) => laid(under, over) as GuardrailSettings, DEFAULTS);
}

/** One value laid over another: objects field by field, anything else whole. */
function laid(under: unknown, over: unknown): unknown {
  if (over === undefined || over === null) return under;
  if (!isFields(under) || !isFields(over)) return over;
  const merged: Record<string, unknown> = { ...under };
  for (const [name, value] of Object.entries(over)) merged[name] = laid(merged[name], value);
  return merged;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
