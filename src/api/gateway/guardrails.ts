import { endpoint, type Group } from '../endpoint.ts';
import { int32, model, object, oneOf, t, timestamp } from '../schema.ts';

const count = () => t.Integer({ minimum: 1, maximum: 100_000_000 });
const phrases = () => t.Array(t.String({ minLength: 3, maxLength: 128 }), { maxItems: 200 });
const blocks = () => oneOf('block', 'flag');
const pii = () => oneOf('block', 'redact', 'flag', 'allow');

const Category = model('GuardrailCategory', {
  enabled: t.Boolean(),
  threshold: t.Number({ minimum: 0, maximum: 1 }),
});

const moderated = {
  enabled: t.Boolean(),
  model: t.String({ minLength: 1, maxLength: 256, description: 'A model of the moderation API.' }),
  action: blocks(),
  onFailure: oneOf('block', 'flag'),
  categories: model('GuardrailCategories', {
    hate: Category,
    harassment: Category,
    selfHarm: Category,
    sexual: Category,
    violence: Category,
  }),
};

/** What is looked for in requests. */
export const InputGuardrails = model('InputGuardrails', {
  tokenLimits: model('GuardrailTokenLimits', {
    enabled: t.Boolean(),
    maxInputTokens: count(),
    maxTotalTokens: count(),
    action: oneOf('truncate', 'block', 'flag'),
  }),
  promptInjection: model('GuardrailPromptInjection', {
    enabled: t.Boolean(),
    action: blocks(),
    keywords: phrases(),
  }),
  piiDetection: model('GuardrailPii', {
    enabled: t.Boolean(),
    ssn: pii(),
    creditCard: pii(),
    bankAccount: pii(),
    medicalRecord: pii(),
    email: pii(),
    phone: pii(),
    ipv4: pii(),
  }),
  contentFiltering: model('GuardrailContentFiltering', moderated),
});

/** What is looked for in answers. */
export const OutputGuardrails = model('OutputGuardrails', {
  jailbreakDetection: model('GuardrailJailbreak', {
    enabled: t.Boolean(),
    action: blocks(),
    keywords: phrases(),
  }),
  toxicity: model('GuardrailToxicity', moderated),
  codeExecution: model('GuardrailCodeExecution', { enabled: t.Boolean(), action: blocks() }),
  hallucination: model('GuardrailHallucination', {
    enabled: t.Boolean({ description: 'Reserved: it must be false.' }),
  }),
});

/** What is looked for, and what happens when it is found. What is absent follows the templates, then the instance. */
export const GuardrailConfig = model('GuardrailConfig', {
  enabled: t.Boolean(),
  templates: t.Array(oneOf('financial', 'healthcare', 'code_safety'), { maxItems: 3 }),
  inputGuardrails: InputGuardrails,
  outputGuardrails: OutputGuardrails,
});

/** The guardrails of a tenant: as they are in force, and what of them the tenant has given. */
export const Guardrails = model('Guardrails', {
  config: GuardrailConfig,
  given: GuardrailConfig,
  version: int32({ description: 'Grows with every change; 1 when there was none.' }),
  updatedAt: timestamp(),
});

/** What a guardrail has found. Never the text itself. */
export const GuardrailViolation = object('GuardrailViolation', {
  guardrail: t.String(),
  match: t.String({ description: 'The pattern or the category.' }),
  severity: oneOf('low', 'medium', 'high'),
  action: oneOf('block', 'redact', 'flag', 'truncate'),
});

const here = { spec: 'extra', tag: 'Guardrails' } as const;
const CONFIG_LIMIT = 256 * 1024;

/** What may go into models and come out of them. */
export const guardrails = {
  GetGuardrails: endpoint({
    ...here,
    id: 'GetGuardrails',
    method: 'GET',
    path: '/v1/guardrails',
    summary: 'Show the guardrails',
    response: Guardrails,
    access: 'viewer',
  }),
  SetGuardrails: endpoint({
    ...here,
    id: 'SetGuardrails',
    method: 'PUT',
    path: '/v1/guardrails',
    summary: 'Replace the guardrails',
    body: object(
      'SetGuardrailsRequest',
      { config: GuardrailConfig },
      {
        version: int32({
          description: 'The version that this was made from; 409 when there is another by now.',
        }),
      },
    ),
    bodyLimit: CONFIG_LIMIT,
    response: Guardrails,
    access: 'admin',
  }),
  TestGuardrails: endpoint({
    ...here,
    id: 'TestGuardrails',
    method: 'POST',
    path: '/v1/guardrails/test',
    summary: 'Try the guardrails on a text, also while they are off',
    body: object(
      'TestGuardrailsRequest',
      { text: t.String({ maxLength: 1_000_000 }) },
      { direction: oneOf('input', 'output') },
    ),
    response: object('TestGuardrailsResponse', {
      passed: t.Boolean(),
      text: t.String({ description: 'As it would go on; empty when it would not.' }),
      violations: t.Array(GuardrailViolation),
    }),
    access: 'member',
  }),
} satisfies Group;
