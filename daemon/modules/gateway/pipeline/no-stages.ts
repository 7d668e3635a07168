import type { Stages } from './stages.ts';

/** Every stage off: requests pass untouched, uncounted and unwritten. For tests and for measuring what stages cost. */
export const NO_STAGES: Stages = {
  limits: { admit: () => undefined },
  budgets: { reserve: () => undefined },
  prices: { cost: () => undefined },
  ledger: { record: () => {} },
  cache: { modeOf: () => 'off', find: () => undefined, keep: () => {} },
  guardrails: {
    active: () => ({ input: false, output: false }),
    checkInput: async ({ request }) => ({ request, violations: [] }),
    checkOutput: async () => [],
  },
  observers: [],
};
