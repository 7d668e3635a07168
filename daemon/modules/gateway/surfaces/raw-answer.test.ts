import { beforeEach, describe, expect, test } from 'bun:test';
import { type AppError, fail } from '../../../../src/errors/app-error.ts';
import { systemClock } from '../../../../src/kit/time.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import type { ModelCall } from '../pipeline/call.ts';
import { NO_STAGES } from '../pipeline/no-stages.ts';
import { Pipeline } from '../pipeline/pipeline.ts';
import type { RequestRecord } from '../pipeline/record.ts';
import type { Stages } from '../pipeline/stages.ts';
import { Attempts } from '../routing/attempts.ts';
import { Circuits } from '../routing/circuits.ts';
import type { Router } from '../routing/router.ts';
import type { RawAnswer, RelayRequest } from '../upstream/adapter.ts';
import { usageIn } from '../wire/usage-object.ts';
import { answerRaw, type RawReading } from './raw-answer.ts';
import { relayWork } from './relay-work.ts';
import { textsIn } from './texts-in.ts';

const records: RequestRecord[] = [];
let over = 0;
beforeEach(() => {
  records.length = 0;
  over = 0;
});

const reading: RawReading<RelayRequest> = { took: usageIn, said: (text) => textsIn(text).join('') };
const USAGE = { prompt_tokens: 3, completion_tokens: 4 };
const JSON_TYPE = new Headers({ 'content-type': 'application/json' });
const EVENTS_TYPE = new Headers({ 'content-type': 'text/event-stream' });
const whole = JSON.stringify({ text: 'secret words', usage: USAGE });
const events = [
  `data: {"delta":"secret "}\n\n`,
  `data: {"delta":"words"}\n\n`,
  `data: ${JSON.stringify({ usage: USAGE })}\n\n`,
];

function streamed(pieces: readonly string[], breaks = false): ReadableStream<Uint8Array> {
  const left = [...pieces];
  return new ReadableStream({
    pull(sink) {
      const next = left.shift();
      if (next !== undefined) sink.enqueue(Buffer.from(next));
      else if (breaks) sink.error(new Error('gone'));
      else sink.close();
    },
  });
}

/** A request that an adapter answers so, through a real pipeline with these stages. */
function ask(answer: () => RawAnswer, stages: Partial<Stages> = {}, request: object = {}): Promise<Response> {
  const account = {
    name: 'p',
    dialect: 'openai',
    baseUrl: 'http://p',
    trust: 'operator',
    keys: [],
    needsKey: false,
    settings: {},
  };
  const adapter = { relay: { completions: async () => answer() } };
  const chain = {
    resolvedBy: 'explicit',
    strategy: 'priority',
    candidates: [{ account, adapter, model: 'm', parameters: {}, weight: 1 }],
  };
  const router = { resolve: async () => chain } as unknown as Router;
  const attempts = new Attempts({} as Outbound, new Circuits(systemClock));
  const ledger = { record: (record: RequestRecord) => void records.push(record) };
  const all = { ...NO_STAGES, ledger, ...stages };
  const pipeline = new Pipeline(all, router, attempts, systemClock, () => ({ retries: 0, timeoutMs: 1000 }));
  const call = {
    surface: 'completions',
    caller: { tenant: 'org_a', actor: 'key_1', role: 'member', via: 'api-key' },
    requestId: 'req_1',
    peer: () => '',
    signal: new AbortController().signal,
    headers: new Headers(),
    request: { model: 'p/m', ...request },
  } as unknown as ModelCall<RelayRequest>;
  return answerRaw(pipeline, call, relayWork('completions'), reading, () => over++);
}

const books = () => records.map(({ ending, usage }) => [ending, usage?.input, usage?.output]);

describe('an answer that passes', () => {
  test('as a text has its usage in the books once', async () => {
    const response = await ask(() => ({ headers: JSON_TYPE, body: whole }));
    expect(await response.text()).toBe(whole);
    expect(response.headers.get('x-svc-provider')).toBe('p');
    expect(books()).toEqual([['completed', 3, 4]]);
    expect(over).toBe(1);
  });

  test('as events has its usage in the books at the end', async () => {
    const response = await ask(() => ({ headers: EVENTS_TYPE, body: streamed(events) }));
    expect([books(), over]).toEqual([[], 0]);
    expect(await response.text()).toBe(events.join(''));
    expect(books()).toEqual([['completed', 3, 4]]);
    expect(over).toBe(1);
  });

  test('as bytes breaks off where the upstream did, and is failed', async () => {
    const headers = new Headers({ 'content-type': 'audio/wav' });
    const response = await ask(() => ({ headers, body: streamed(['RIFF'], true) }));
    await expect(response.arrayBuffer()).rejects.toThrow('gone');
    expect(books()).toEqual([['failed', undefined, undefined]]);
    expect(over).toBe(1);
  });

  test('as events ends with an error where the upstream broke off', async () => {
    const response = await ask(() => ({
      headers: EVENTS_TYPE,
      body: streamed([...events, 'data: {"del'], true),
    }));
    const text = await response.text();
    expect(text.startsWith(events.join(''))).toBe(true);
    expect(text).not.toContain('"del\n');
    expect(JSON.parse(text.slice(text.lastIndexOf('data: ') + 6)).error.code).toBe('upstream_failed');
    expect(books()).toEqual([['failed', 3, 4]]);
    expect(over).toBe(1);
  });

  test('is stopped when its reader leaves', async () => {
    const response = await ask(() => ({ headers: EVENTS_TYPE, body: streamed(events) }));
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(records.map(({ ending }) => ending)).toEqual(['stopped']);
    expect(over).toBe(1);
  });

  test('is not there when nobody answers, and the request is let go of', async () => {
    const refuse = () => {
      throw fail('unavailable', { message: 'no' });
    };
    await expect(ask(refuse)).rejects.toThrow('no');
    expect(records.map(({ ending }) => ending)).toEqual(['failed']);
    expect(over).toBe(1);
  });
});

describe('guardrails', () => {
  const guarding = (seen: string[], blocks: boolean): Partial<Stages> => ({
    guardrails: {
      ...NO_STAGES.guardrails,
      active: () => ({ input: false, output: true }),
      async checkOutput(_, text) {
        seen.push(text);
        if (blocks) throw fail('guardrail_blocked', { message: 'blocked', violations: [] });
        return [{ guardrail: 'words', match: 'secret', severity: 'low', action: 'flag' }];
      },
    },
  });

  test.each([
    ['a text', () => ({ headers: JSON_TYPE, body: whole }), whole],
    ['events', () => ({ headers: EVENTS_TYPE, body: streamed(events) }), events.join('')],
  ])('see the words of %s before anybody else', async (_, answer, text) => {
    const seen: string[] = [];
    const response = await ask(answer, guarding(seen, false));
    expect(await response.text()).toBe(text);
    expect(response.headers.get('x-svc-guardrails')).toBe('words');
    expect(seen).toEqual(['secret words']);
    const blocked = await ask(answer, guarding(seen, true)).catch((error: AppError) => error.code);
    expect(blocked as string).toBe('guardrail_blocked');
    expect(records.map(({ usage }) => usage?.output)).toEqual([4, 4]);
    expect(over).toBe(2);
  });
});

describe('the cache', () => {
  const caching = (kept: Map<string, string>): Partial<Stages> => ({
    cache: {
      modeOf: () => 'use',
      find: ({ request }) => {
        const body = kept.get(request.model);
        return body === undefined
          ? undefined
          : { contentType: 'application/json', body, model: 'p/m', keptAt: 1, by: 'hit' };
      },
      keep: ({ request }, { body }) => void kept.set(request.model, body),
    },
  });

  test('keeps whole answers and gives them back; streams it does not keep', async () => {
    const kept = new Map<string, string>();
    await ask(() => ({ headers: EVENTS_TYPE, body: streamed(events) }), caching(kept), { stream: true }).then(
      (response) => response.text(),
    );
    expect(kept.size).toBe(0);
    await ask(() => ({ headers: JSON_TYPE, body: whole }), caching(kept));
    const again = await ask(() => {
      throw new Error('asked again');
    }, caching(kept));
    expect(await again.text()).toBe(whole);
    expect(again.headers.get('x-svc-cache')).toBe('hit');
    expect(over).toBe(3);
  });
});
