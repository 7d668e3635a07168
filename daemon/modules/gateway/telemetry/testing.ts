import type { RequestRecord } from '../pipeline/record.ts';

/** A request that went well, with what a test says of it. */
export function recordOf(more: Partial<RequestRecord> = {}): RequestRecord {
  return {
    requestId: 'req_1',
    tenant: 'org_1',
    actor: 'key_1',
    surface: 'chat',
    streamed: false,
    startedAt: 1_700_000_000_000,
    durationMs: 250,
    firstByteMs: 100,
    status: 200,
    ending: 'completed',
    requestedModel: 'openai/gpt-test',
    model: 'openai/gpt-test',
    resolvedBy: 'explicit',
    attempts: [{ model: 'openai/gpt-test', key: 'env', ms: 90, startMs: 10 }],
    usage: { input: 3, output: 4 },
    costMicros: 1_000_000,
    ...more,
  };
}
