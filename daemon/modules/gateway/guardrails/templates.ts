import type { GivenGuardrails } from './config.ts';

/** Guardrails for a field of work, by name. */
export const TEMPLATES: Readonly<Record<'financial' | 'healthcare' | 'code_safety', GivenGuardrails>> = {
  financial: {
    inputGuardrails: {
      piiDetection: {
        enabled: true,
        ssn: 'block',
        creditCard: 'block',
        bankAccount: 'block',
        email: 'redact',
        phone: 'redact',
      },
      promptInjection: { enabled: true, action: 'block' },
    },
  },
  healthcare: {
    inputGuardrails: {
      piiDetection: {
        enabled: true,
        ssn: 'block',
        medicalRecord: 'redact',
        email: 'redact',
        phone: 'redact',
        ipv4: 'redact',
      },
    },
  },
  code_safety: {
    inputGuardrails: { promptInjection: { enabled: true, action: 'block' } },
    outputGuardrails: {
      codeExecution: { enabled: true, action: 'block' },
      jailbreakDetection: { enabled: true, action: 'block' },
    },
  },
};
