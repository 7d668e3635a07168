import type { RequestRecord } from '../pipeline/record.ts';

let made = 0;

/** A record of a request that went well, for tests. */
export function recordOf(change: Partial<RequestRecord> = {}): RequestRecord {
  made++;
  return {
    requestId: `req_test_${made}`,
    tenant: 'org_a',
    actor: 'key_1',
    surface: 'chat',
    streamed: false,
    startedAt: Date.UTC(2026, 0, 15, 12),
    durationMs: 120,
    firstByteMs: 40,
    status: 200,
    ending: 'completed',
    requestedModel: 'gpt-4o',
    model: 'openai/gpt-4o',
    resolvedBy: 'catalog',
    attempts: [{ model: 'openai/gpt-4o', key: 'pky_1', ms: 118, status: 200 }],
    usage: { input: 100, output: 20, cachedInput: 10, reasoning: 5 },
    costMicros: 425,
    ...change,
  };
}
