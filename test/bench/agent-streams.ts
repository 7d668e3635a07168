import { script } from '../support/agent-client.ts';
import type { AgentTalk } from './agent-talk.ts';
import { quantile, timed } from './kit/quantile.ts';
import { atMost, digits, type Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const STREAMS = sizeFromEnv('BENCH_STREAMS', 200);
/** Words of each stream, and milliseconds between them. */
const WORDS = 100;
const PACE_MS = 50;

interface Figures {
  readonly seconds: number;
  readonly wordsPerSecond: number;
  readonly p99GapMs: number;
  readonly longestGapMs: number;
}

function contentOf(event: string): string {
  if (!event.startsWith('data: {')) return '';
  const { choices } = JSON.parse(event.slice('data: '.length)) as {
    choices: ReadonlyArray<{ readonly delta: { readonly content?: string | null } }>;
  };
  return choices[0]?.delta.content ?? '';
}

/** Many sessions whose models speak at once, and as many calls of the gateway. */
export async function benchStreams(report: Report, talk: AgentTalk): Promise<void> {
  const agentId = await talk.agents.agent({});
  const ids = await Promise.all(Array.from({ length: STREAMS }, () => talk.agents.session(agentId)));
  const text = () => script(talk.key(), `pace ${PACE_MS}`, `say ${'word '.repeat(WORDS).trim()}`);
  const raw = await streams(ids, (_, seen) => rawStream(talk, text(), seen));
  const turns = await streams(ids, (id, seen) => turnStream(talk, id, text(), seen));
  const line = (what: string, figures: Figures, isMeasured: boolean) => ({
    what,
    cells: [
      figures.seconds,
      figures.wordsPerSecond,
      figures.p99GapMs,
      figures.longestGapMs,
      figures.seconds / raw.seconds,
    ].map(digits),
    goals: isMeasured
      ? [atMost(figures.longestGapMs, 1_000, 'ms'), atMost(figures.seconds / raw.seconds, 1.5, 'x raw')]
      : [],
  });
  report.table({
    title: `${STREAMS} streams at once, ${WORDS} words each, one every ${PACE_MS} ms`,
    columns: ['s in all', 'words/s', 'gap p99', 'gap most', 'x raw'],
    lines: [line('raw calls of the gateway', raw, false), line('turns of agents', turns, true)],
    notes: [
      'gap: milliseconds between two pieces of one stream; every event of a turn is on the disk before it is sent',
    ],
  });
}

async function streams(
  ids: readonly string[],
  open: (id: string, seen: () => void) => Promise<string>,
): Promise<Figures> {
  const gaps: number[] = [];
  const seconds =
    (await timed(() =>
      Promise.all(
        ids.map(async (id) => {
          let before = 0;
          const text = await open(id, () => {
            const now = performance.now();
            if (before > 0) gaps.push(now - before);
            before = now;
          });
          if (text.split(' ').length !== WORDS) throw new Error(`words are missing: ${text}`);
        }),
      ),
    )) / 1000;
  return {
    seconds,
    wordsPerSecond: (ids.length * WORDS) / seconds,
    p99GapMs: quantile(gaps, 0.99),
    longestGapMs: Math.max(...gaps),
  };
}

async function turnStream(
  talk: AgentTalk,
  sessionId: string,
  text: string,
  seen: () => void,
): Promise<string> {
  let said = '';
  for await (const { result } of talk.agents.stream(sessionId, text)) {
    if (result?.type !== 'llm.chunk') continue;
    seen();
    said += result.textDelta ?? '';
  }
  return said;
}

async function rawStream(talk: AgentTalk, text: string, seen: () => void): Promise<string> {
  const response = await talk.ask(text);
  let said = '';
  let rest = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (rest + piece).split('\n\n');
    rest = events.pop() ?? '';
    const words = events.map(contentOf).filter((word) => word !== '');
    if (words.length > 0) seen();
    said += words.join('');
  }
  return said;
}
