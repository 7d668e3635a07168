import { testUpstream } from '../../daemon/modules/gateway/testing/upstream.ts';
import { ConverseReader } from '../../daemon/modules/gateway/upstream/bedrock/reader.ts';
import { overFrames } from '../../daemon/modules/gateway/upstream/bedrock/stream.ts';
import { CohereReader } from '../../daemon/modules/gateway/upstream/cohere/reader.ts';
import { GeminiReader } from '../../daemon/modules/gateway/upstream/gemini/reader.ts';
import { parseJson } from '../../daemon/modules/gateway/upstream/translate/answer.ts';
import {
  type ChunkSource,
  overEvents,
  streamedChat,
} from '../../daemon/modules/gateway/upstream/translate/stream.ts';
import { frame } from '../support/aws-event-stream.ts';
import { median } from './kit/quantile.ts';
import { atMost, type Line, Report } from './kit/report.ts';

const WORDS = Number(process.env.BENCH_WORDS ?? 2000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const WARM_UP = 3;

/** A streamed answer of one dialect: an event a word. */
interface Dialect {
  readonly name: string;
  readonly events: readonly Uint8Array[];
  source(): ChunkSource;
}

const words = Array.from({ length: WORDS }, (_, place) => `word${place} `);
const event = (value: object) => Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
const parse = (text: string) => parseJson(text, 'bench');

const DIALECTS: readonly Dialect[] = [
  {
    name: 'gemini',
    events: [
      ...words.map((text) => event(geminiEvent(text))),
      event({
        candidates: [{ finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: WORDS },
      }),
    ],
    source: () => overEvents(new GeminiReader('m', 'bench'), parse),
  },
  {
    name: 'bedrock',
    events: [
      ...words.map((text) =>
        frame(
          { ':event-type': 'contentBlockDelta', ':message-type': 'event' },
          { contentBlockIndex: 0, delta: { text } },
        ),
      ),
      frame({ ':event-type': 'messageStop', ':message-type': 'event' }, { stopReason: 'end_turn' }),
      frame(
        { ':event-type': 'metadata', ':message-type': 'event' },
        { usage: { inputTokens: 9, outputTokens: WORDS } },
      ),
    ],
    source: () => overFrames(new ConverseReader('m', 'bench', false), 'bench'),
  },
  {
    name: 'cohere',
    events: [
      ...words.map((text) =>
        event({ type: 'content-delta', index: 0, delta: { message: { content: { text } } } }),
      ),
      event({
        type: 'message-end',
        delta: { finish_reason: 'COMPLETE', usage: { tokens: { input_tokens: 9, output_tokens: WORDS } } },
      }),
    ],
    source: () => overEvents(new CohereReader('m', 'bench'), parse),
  },
];

const PLAIN = { events: words.map((text) => Buffer.from(JSON.stringify(geminiEvent(text)))) };

function geminiEvent(text: string): object {
  return {
    candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0 }],
    usageMetadata: {
      promptTokenCount: 9,
      totalTokenCount: 9,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }],
    },
    modelVersion: 'gemini-2.5-flash',
    responseId: 'bench',
  };
}

/**
 * Measures what translating one event of a stream costs, from its bytes to the JSON of a chunk, beside reading and
 * writing JSON of that size without meaning. In one process, by turns. Run: bun test/bench/dialects.ts
 */
export async function benchDialects(report: Report): Promise<void> {
  const lines: Line[] = [];
  for (const dialect of DIALECTS) {
    const [floors, ours]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS + WARM_UP; round++) {
      const floor = await timed(throughJson);
      const own = await timed(() => translate(dialect));
      if (round < WARM_UP) continue;
      floors.push(floor);
      ours.push(own);
    }
    const [floor, own] = [median(floors), median(ours)];
    const cells = [own, floor].map((figure) => `${figure.toFixed(2)} us`);
    lines.push({
      what: dialect.name,
      cells: [...cells, (own / floor).toFixed(2)],
      goals: [atMost(own / floor, 4, 'x')],
    });
  }
  report.table({ title: `an event, ${WORDS} a stream`, columns: ['svc', 'JSON', 'ratio'], lines });
}

async function timed(work: () => Promise<number>): Promise<number> {
  const start = performance.now();
  const count = await work();
  if (count < WORDS) throw new Error(`${count} events came of ${WORDS}`);
  return ((performance.now() - start) * 1000) / WORDS;
}

function bodyOf({ events }: Pick<Dialect, 'events'>): Response {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (sink) => {
      const next = events[at++];
      if (next) sink.enqueue(next);
      else sink.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/octet-stream' } });
}

async function translate(dialect: Dialect): Promise<number> {
  const upstream = testUpstream({ dialect: 'gemini', baseUrl: 'http://127.0.0.1:9' });
  const { chunks } = await streamedChat(bodyOf(dialect), upstream, dialect.source());
  let count = 0;
  for await (const chunk of chunks) count += JSON.stringify(chunk).length > 0 ? 1 : 0;
  return count;
}

/** The floor: JSON of about the same size, one a line, is read and written again. */
async function throughJson(): Promise<number> {
  const decoder = new TextDecoder();
  let count = 0;
  for await (const piece of bodyOf(PLAIN).body ?? []) {
    const value: unknown = JSON.parse(decoder.decode(piece));
    count += JSON.stringify(value).length > 0 ? 1 : 0;
  }
  return count;
}

if (import.meta.main) await Report.of(benchDialects);
