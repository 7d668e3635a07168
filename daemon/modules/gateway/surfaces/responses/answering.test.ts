import { describe, expect, test } from 'bun:test';
import { AppError } from '../../../../../src/errors/app-error.ts';
import { systemClock } from '../../../../../src/kit/time.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import { NO_STAGES } from '../../pipeline/no-stages.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { RequestRecord } from '../../pipeline/record.ts';
import { Settlement } from '../../pipeline/settlement.ts';
import type { Stages } from '../../pipeline/stages.ts';
import { UpstreamError } from '../../upstream/error.ts';
import type { ChatChunk } from '../../wire/chat.ts';
import { Answering } from './answering.ts';
import { ChatMaking } from './chat/making.ts';
import { newResponse } from './new-response.ts';
import type { ResponseObject, ResponseRequest } from './wire.ts';

const SECRET = 'hunter2';

/** Lets nobody hear the secret. */
const guardrails: Stages['guardrails'] = {
  ...NO_STAGES.guardrails,
  active: () => ({ input: false, output: true }),
  async checkOutput(_, text) {
    if (!text.includes(SECRET)) return [];
    throw new AppError('guardrail_blocked', { message: 'The answer was blocked.', violations: [] });
  },
};

const chunk = (content: string, finish_reason: string | null = null): ChatChunk => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason }],
});

/** Streams these words, which may be followed by a failure; answers what went out, what was kept and what was booked. */
async function stream(
  words: readonly string[],
  {
    failure,
    guarded = false,
    leaveAfter = Number.POSITIVE_INFINITY,
  }: { failure?: Error; guarded?: boolean; leaveAfter?: number } = {},
) {
  const records: RequestRecord[] = [];
  const stages: Stages = {
    ...NO_STAGES,
    ...(guarded ? { guardrails } : {}),
    ledger: { record: (record) => void records.push(record) },
  };
  const request: ResponseRequest = { model: 'm', input: 'x', stream: true };
  const controller = new AbortController();
  const call: ModelCall<ResponseRequest> = {
    surface: 'responses',
    caller: { tenant: 'a', role: 'member', actor: 'key_1', via: 'api-key' },
    requestId: 'req_1',
    peer: () => '',
    signal: controller.signal,
    headers: new Headers(),
    request,
  };
  async function* chunks() {
    for (const word of words) yield chunk(`${word} `);
    if (failure) throw failure;
    yield chunk('', 'stop');
  }
  const base = newResponse('resp_1', 0, request, 'in_progress');
  const making = new ChatMaking({ kind: 'stream', headers: new Headers(), chunks: chunks() }, base, () => 0);
  const settlement = new Settlement(call, stages, systemClock);
  settlement.answered('p/m');
  const kept: ResponseObject[] = [];
  const pieces: string[] = [];
  const steps = new Answering({ stages } as Pipeline).stream(
    call,
    making,
    settlement,
    async (end) => void kept.push(end),
  );
  for await (const { bytes } of steps) {
    pieces.push(Buffer.from(bytes).toString());
    if (pieces.length >= leaveAfter) break;
  }
  return { text: pieces.join(''), pieces, kept, records };
}

const typesIn = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type);

describe('an answer that streams', () => {
  test('is kept and booked once, before its end is told', async () => {
    const { kept, records, text } = await stream(['one', 'two']);
    expect(kept).toMatchObject([{ status: 'completed', output: [{ content: [{ text: 'one two ' }] }] }]);
    expect(records).toMatchObject([{ ending: 'completed', model: 'p/m', usage: { estimated: true } }]);
    expect(typesIn(text).at(-1)).toBe('response.completed');
  });

  test('that breaks off has failed, with what was said', async () => {
    const { kept, records, text } = await stream(['one'], {
      failure: new UpstreamError('server', 'It broke.'),
    });
    expect(kept).toMatchObject([{ status: 'failed', error: { code: 'server_error', message: 'It broke.' } }]);
    expect(JSON.stringify(kept)).toContain('one ');
    expect(records).toMatchObject([{ ending: 'failed', error: 'upstream_failed' }]);
    expect(typesIn(text).at(-1)).toBe('response.failed');
  });

  test('that fails for a reason of ours says nothing of it', async () => {
    const { kept, text } = await stream(['one'], { failure: new Error('/etc/passwd') });
    expect(kept).toMatchObject([{ status: 'failed' }]);
    expect(text).not.toContain('passwd');
  });

  test('that is left is cancelled', async () => {
    const { kept, records } = await stream(['one', 'two'], { leaveAfter: 1 });
    expect(kept).toMatchObject([{ status: 'cancelled' }]);
    expect(records).toMatchObject([{ ending: 'stopped' }]);
  });
});

describe('an answer that guardrails look at', () => {
  test('goes out when it is all there and they let it', async () => {
    const { text, kept } = await stream(['one', 'two'], { guarded: true });
    expect(typesIn(text)[0]).toBe('response.created');
    expect(kept).toMatchObject([{ status: 'completed' }]);
  });

  test('does not go out in any part when they do not, and is not kept', async () => {
    const { text, kept, records } = await stream(['it', 'is', SECRET], { guarded: true });
    expect(typesIn(text)).toEqual(['response.created', 'response.failed']);
    expect(text).not.toContain(SECRET);
    expect(kept).toMatchObject([{ status: 'failed', output: [], error: { code: 'invalid_prompt' } }]);
    expect(JSON.stringify(kept)).not.toContain(SECRET);
    expect(records).toHaveLength(1);
  });
});
