import Anthropic from '@anthropic-ai/sdk';
import { EventWriter } from '../../daemon/modules/gateway/surfaces/messages/event-writer.ts';
import { bytesOf } from '../../daemon/modules/gateway/surfaces/messages/stream-body.ts';
import { UsageWatch } from '../../daemon/modules/gateway/surfaces/messages/usage-watch.ts';
import { testUpstream } from '../../daemon/modules/gateway/testing/upstream.ts';
import { MessagesReader } from '../../daemon/modules/gateway/upstream/anthropic/reader.ts';
import { parseJson } from '../../daemon/modules/gateway/upstream/translate/answer.ts';
import { overEvents, streamedChat } from '../../daemon/modules/gateway/upstream/translate/stream.ts';
import type { ChatChunk } from '../../daemon/modules/gateway/wire/chat.ts';
import { relay } from '../../daemon/modules/gateway/wire/relay.ts';
import { median } from './kit/quantile.ts';

const WORDS = Number(process.env.BENCH_WORDS ?? 2000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 60);
/** Enough for the runtime to have compiled what is hot. */
const WARM_UP = 20;

const words = Array.from({ length: WORDS }, (_, place) => `word${place} `);
const usage = { input_tokens: 9, output_tokens: WORDS };
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage,
};
const EVENTS = [
  { type: 'message_start', message },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...words.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
  { type: 'message_stop' },
].map((event) => Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
const CHUNKS = words.map(
  (content): ChatChunk => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  }),
);

/** Ways of a stream through the gateway; each answers how many events went through. */
const WAYS: Readonly<Record<string, () => Promise<number>>> = {
  'JSON read and written, without meaning': throughJson,
  'messages passed on, usage read': passedOn,
  'messages as chat completions': asChat,
  'chat completions as messages': asMessages,
  'messages read by the stock client': byStockClient,
};

/**
 * Measures what one event of a stream costs on its way between the Messages dialect and that of chat completions, beside the least that
 * reading and writing JSON costs, and beside the stock client's own reading. In one process, by turns. Run: bun test/bench/messages.ts
 */
export async function benchMessages(): Promise<void> {
  process.stdout.write(`\nmicroseconds an event, ${WORDS} events a stream, median of ${ROUNDS}\n`);
  const times = new Map(Object.keys(WAYS).map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS + WARM_UP; round++)
    for (const [name, way] of Object.entries(WAYS)) {
      const took = await timed(way);
      if (round >= WARM_UP) times.get(name)?.push(took);
    }
  const floor = median(times.get('JSON read and written, without meaning') ?? []);
  for (const [name, list] of times) {
    const took = median(list);
    process.stdout.write(
      `  ${name.padEnd(40)} ${took.toFixed(2).padStart(6)}   ${(took / floor).toFixed(2)} of the least\n`,
    );
  }
}

async function timed(way: () => Promise<number>): Promise<number> {
  const start = performance.now();
  const count = await way();
  if (count < WORDS) throw new Error(`${count} events came of ${WORDS}`);
  return ((performance.now() - start) * 1000) / WORDS;
}

/** An answer whose events come one by one, as from a socket. */
function answer(): Response {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(sink) {
      const next = EVENTS[at++];
      if (next) sink.enqueue(next);
      else sink.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

async function throughJson(): Promise<number> {
  const decoder = new TextDecoder();
  let count = 0;
  for await (const piece of answer().body ?? []) {
    const text = decoder.decode(piece);
    const value: unknown = JSON.parse(text.slice(text.indexOf('data: ') + 'data: '.length));
    count += JSON.stringify(value).length > 0 ? 1 : 0;
  }
  return count;
}

async function passedOn(): Promise<number> {
  const watch = new UsageWatch();
  const source = answer().body?.getReader();
  if (!source) return 0;
  const ends = { ended() {}, failed: () => undefined, left() {} };
  let count = 0;
  for await (const _ of relay(source, { passing: (lines) => watch.passing(lines), ...ends })) count++;
  return watch.isComplete ? count : 0;
}

async function asChat(): Promise<number> {
  const upstream = testUpstream({ dialect: 'anthropic', baseUrl: 'http://127.0.0.1:9' });
  const source = overEvents(new MessagesReader('m', 'bench'), (text) => parseJson(text, 'bench'));
  const { chunks } = await streamedChat(answer(), upstream, source);
  let count = 0;
  for await (const chunk of chunks) count += JSON.stringify(chunk).length > 0 ? 1 : 0;
  return count;
}

async function asMessages(): Promise<number> {
  const writer = new EventWriter();
  let count = 0;
  for (const chunk of CHUNKS) count += bytesOf(writer.take(chunk)).byteLength > 0 ? 1 : 0;
  return count + writer.end().length;
}

async function byStockClient(): Promise<number> {
  const client = new Anthropic({ apiKey: 'x', baseURL: 'http://127.0.0.1:9', fetch: async () => answer() });
  const request = { model: 'm', max_tokens: 1, messages: [{ role: 'user' as const, content: 'hi' }] };
  let count = 0;
  for await (const _ of await client.messages.create({ ...request, stream: true })) count++;
  return count;
}

if (import.meta.main) await benchMessages();
