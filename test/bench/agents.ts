import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentClient, callsOf, script } from '../support/agent-client.ts';
import { type DaemonOptions, startDaemon, type TestDaemon } from '../support/daemon.ts';
import { clientOf, newSandbox, run } from '../support/scene.ts';
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model/index.ts';
import { NO_SANDBOXES } from '../support/tenants/two-tenants.ts';
import { namespaceMissing } from './kit/host.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atLeast, atMost, digits, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 50);
const STREAMS = sizeFromEnv('BENCH_STREAMS', 200);
const EVENTS = sizeFromEnv('BENCH_EVENTS', 100_000);
/** Words of each stream, and milliseconds between them. */
const WORDS = 100;
const PACE_MS = 50;
const CYCLES = 10;

/** Turns of agents over HTTP, beside the same calls of the gateway; the model is a process of its own that decides by scripts. */
export async function benchAgents(report: Report): Promise<void> {
  const missing = namespaceMissing();
  const model = await startScriptedModel();
  const driver = missing ? NO_SANDBOXES : { SVC_SANDBOX_DRIVER: 'namespace' };
  const options: DaemonOptions = { env: { ...driver, ...model.env, SVC_LOG_LEVEL: 'warn' } };
  let daemon = await startDaemon(options);
  try {
    const bench = new AgentBench(report, model, daemon);
    const rawMs = await bench.plainTurns();
    if (missing) console.log(`commands are not measured: ${missing}`);
    else await bench.toolCycles(rawMs);
    await bench.crowd();
    const sessionId = await bench.finishedSession();
    await daemon.stop({ keep: true });
    const rowsPerSecond = fill(daemon.dataDir, sessionId);
    const { dataDir, apiKey } = daemon;
    daemon = await startDaemon({ ...options, dataDir, apiKey });
    await replay(report, daemon, sessionId, rowsPerSecond);
  } finally {
    const agents = new AgentClient(() => daemon.url, daemon.apiKey);
    if (!missing) await agents.removeSandboxes();
    await daemon.stop();
    await model.stop();
  }
}

class AgentBench {
  private readonly agents: AgentClient;
  private keys = 0;

  constructor(
    private readonly report: Report,
    private readonly model: ScriptedModel,
    private readonly daemon: TestDaemon,
  ) {
    this.agents = new AgentClient(() => daemon.url, daemon.apiKey);
  }

  /** A turn without tools, and the call of the gateway in it. Answers what the call takes, in milliseconds. */
  async plainTurns(): Promise<number> {
    const agentId = await this.agents.agent({});
    const [raw, turns, streamed]: [number[], number[], number[]] = [[], [], []];
    for (let i = -5; i < ROUNDS; i++) {
      const text = () => script(this.key(), 'say The answer is forty-two.');
      const [one, two] = [await this.agents.session(agentId), await this.agents.session(agentId)];
      const rawMs = await timed(() => this.rawCall(text()));
      const turnMs = await timed(() => this.turn(one, text()));
      const streamMs = await timed(() => this.agents.told(two, text()));
      if (i < 0) continue;
      raw.push(rawMs);
      turns.push(turnMs);
      streamed.push(streamMs);
    }
    const floor = median(raw);
    const line = (what: string, ms: readonly number[], isMeasured = true) => ({
      what,
      cells: [median(ms), quantile(ms, 0.95), median(ms) - floor, median(ms) / floor].map(digits),
      goals: isMeasured ? [atMost(median(ms) - floor, 5, 'ms more')] : [],
    });
    this.report.table({
      title: 'a turn without tools',
      columns: ['p50 ms', 'p95 ms', 'more ms', 'x raw'],
      lines: [
        line('a commit that is on the disk, alone', commits(), false),
        line('raw call of the gateway, streamed', raw, false),
        line('turn that is waited for', turns),
        line('turn that is streamed', streamed),
      ],
      notes: [
        'raw: the same messages to /compat/v1/chat/completions of the same daemon, read to the end; a turn is three commits',
      ],
    });
    return floor;
  }

  /** Turns whose model asks for a command again and again, in a sandbox that runs. */
  async toolCycles(rawMs: number): Promise<void> {
    const agentId = await this.agents.agent({ tools: ['sandbox_shell'] });
    const sessionId = await this.agents.session(agentId);
    const command = 'call sandbox_shell {"command":"true"}';
    const turn = (lines: readonly string[]) =>
      timed(() => this.turn(sessionId, script(this.key(), ...lines, 'say done')));
    await turn([command]);
    const [none, several]: [number[], number[]] = [[], []];
    for (let i = 0; i < Math.ceil(ROUNDS / CYCLES); i++) {
      none.push(await turn([]));
      several.push((await turn([`repeat ${CYCLES} ${command}`])) / CYCLES);
    }
    const sandboxId = await newSandbox(clientOf(this.daemon));
    const commands: number[] = [];
    for (let i = 0; i < ROUNDS; i++)
      commands.push(await timed(() => run(clientOf(this.daemon), sandboxId, 'true')));
    const cycle = median(several) - median(none) / CYCLES;
    const beyond = cycle - rawMs;
    this.report.table({
      title: 'a cycle: the model asks for `true` in a warm sandbox, and gets its result',
      columns: ['p50 ms', 'x command'],
      lines: [
        { what: 'command over HTTP', cells: [digits(median(commands)), '1.00'] },
        { what: 'whole cycle', cells: [digits(cycle), digits(cycle / median(commands))] },
        {
          what: 'beyond the call of the model',
          cells: [digits(beyond), digits(beyond / median(commands))],
          goals: [atMost(beyond, 30, 'ms')],
        },
      ],
      notes: [`${CYCLES} cycles a turn; a call of the model takes ${digits(rawMs)} ms`],
    });
  }

  /** Many sessions whose models speak at once. */
  async crowd(): Promise<void> {
    const agentId = await this.agents.agent({});
    const ids = await Promise.all(Array.from({ length: STREAMS }, () => this.agents.session(agentId)));
    const text = () => script(this.key(), `pace ${PACE_MS}`, `say ${'word '.repeat(WORDS).trim()}`);
    const raw = await this.streams(ids, (_, seen) => this.rawStream(text(), seen));
    const turns = await this.streams(ids, (id, seen) => this.turnStream(id, text(), seen));
    const line = (what: string, figures: Figures, isMeasured: boolean) => ({
      what,
      cells: [
        figures.seconds,
        figures.wordsPerSecond,
        figures.p99GapMs,
        figures.longestGapMs,
        turnsRatio(figures, raw),
      ].map(digits),
      goals: isMeasured
        ? [atMost(figures.longestGapMs, 1_000, 'ms'), atMost(figures.seconds / raw.seconds, 1.5, 'x raw')]
        : [],
    });
    this.report.table({
      title: `${STREAMS} streams at once, ${WORDS} words each, one every ${PACE_MS} ms`,
      columns: ['s in all', 'words/s', 'gap p99', 'gap most', 'x raw'],
      lines: [line('raw calls of the gateway', raw, false), line('turns of agents', turns, true)],
      notes: [
        'gap: milliseconds between two pieces of one stream; every event of a turn is on the disk before it is sent',
      ],
    });
  }

  /** A session with one turn, to be filled with events. */
  async finishedSession(): Promise<string> {
    const sessionId = await this.agents.session(await this.agents.agent({}));
    await this.turn(sessionId, script(this.key(), 'say done'));
    const { violations } = await this.model.seen();
    if (violations.length > 0) throw new Error(`the model refused: ${violations[0]?.reason}`);
    return sessionId;
  }

  private async streams(
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

  private async turnStream(sessionId: string, text: string, seen: () => void): Promise<string> {
    let said = '';
    for await (const { result } of this.agents.stream(sessionId, text)) {
      if (result?.type !== 'llm.chunk') continue;
      seen();
      said += result.textDelta ?? '';
    }
    return said;
  }

  private async rawStream(text: string, seen: () => void): Promise<string> {
    const response = await this.ask(text);
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

  private async turn(sessionId: string, text: string): Promise<void> {
    const { status, body } = await this.agents.turn(sessionId, text);
    if (status !== 200 || body.turn?.status !== 'TURN_STATUS_COMPLETED')
      throw new Error(`the turn has failed: ${JSON.stringify(body)}`);
    if (callsOf(body.turn).some(({ success }) => !success)) throw new Error('a call has failed');
  }

  private async rawCall(text: string): Promise<void> {
    if (!(await (await this.ask(text)).text()).includes('forty-two')) throw new Error('no answer');
  }

  private ask(content: string): Promise<Response> {
    const messages = [
      { role: 'system', content: 'You do what scripts say.' },
      { role: 'user', content },
    ];
    return this.daemon.fetch('/compat/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'scripted/main', stream: true, messages }),
    });
  }

  private key(): string {
    return `b${++this.keys}`;
  }
}

/** Milliseconds of commits of one row each, as durable as those of svc, on the disk of data directories. */
function commits(): number[] {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-commits-'));
  const db = new Database(join(dir, 'rows.db'));
  try {
    db.run('PRAGMA journal_mode = WAL');
    db.run('PRAGMA synchronous = FULL');
    db.run('CREATE TABLE rows (text TEXT) STRICT');
    const add = db.query('INSERT INTO rows VALUES (?)');
    return Array.from({ length: ROUNDS }, () => {
      const begun = performance.now();
      add.run('one');
      return performance.now() - begun;
    });
  } finally {
    db.close();
    rmSync(dir, { recursive: true });
  }
}

interface Figures {
  readonly seconds: number;
  readonly wordsPerSecond: number;
  readonly p99GapMs: number;
  readonly longestGapMs: number;
}

const turnsRatio = (figures: Figures, raw: Figures) => figures.seconds / raw.seconds;

function contentOf(event: string): string {
  if (!event.startsWith('data: {')) return '';
  const { choices } = JSON.parse(event.slice('data: '.length)) as {
    choices: ReadonlyArray<{ readonly delta: { readonly content?: string | null } }>;
  };
  return choices[0]?.delta.content ?? '';
}

/**
 * Puts text into the answer of a session's turn while its daemon is away. Answers how many events a second its rows give to one
 * who only reads them.
 */
function fill(dataDir: string, sessionId: string): number {
  const db = new Database(join(dataDir, 'svc.db'));
  const of = 'FROM agent_events WHERE session_id = ?';
  try {
    const { end, last } = db
      .query(`SELECT max(seq) AS last, min(seq) FILTER (WHERE type = 'llm.end') AS end ${of}`)
      .get(sessionId) as { end: number; last: number };
    const more = EVENTS - last;
    const move = db.query('UPDATE agent_events SET seq = ? WHERE session_id = ? AND seq = ?');
    const add = db.query(
      "INSERT INTO agent_events (session_id, seq, turn_number, type, fields, created_at) VALUES (?, ?, 1, 'llm.chunk', ?, ?)",
    );
    db.transaction(() => {
      for (let seq = last; seq >= end; seq--) move.run(seq + more, sessionId, seq);
      for (let seq = end; seq < end + more; seq++)
        add.run(sessionId, seq, JSON.stringify({ textDelta: `piece ${seq} of a long answer ` }), Date.now());
    })();
    const begun = performance.now();
    const rows = db.query(`SELECT * ${of} ORDER BY seq`).all(sessionId);
    JSON.stringify(rows);
    return rows.length / ((performance.now() - begun) / 1000);
  } finally {
    db.close();
  }
}

/** Reads all events of a session from the beginning, as somebody does who lost the connection. */
async function replay(
  report: Report,
  daemon: TestDaemon,
  sessionId: string,
  rowsPerSecond: number,
): Promise<void> {
  const agents = new AgentClient(() => daemon.url, daemon.apiKey);
  let count = 0;
  const ms = await timed(async () => {
    for await (const { id } of agents.stream(sessionId, '', { lastEventId: '0' }))
      if (Number(id) !== ++count) throw new Error(`event ${id} follows ${count - 1}`);
  });
  if (count !== EVENTS) throw new Error(`${count} events came, not ${EVENTS}`);
  const perSecond = count / (ms / 1000);
  report.table({
    title: `${EVENTS} stored events`,
    columns: ['events/s', 'x floor'],
    lines: [
      { what: 'rows of the database as JSON', cells: [digits(rowsPerSecond), '1.00'] },
      {
        what: 'replayed over HTTP, parsed',
        cells: [digits(perSecond), digits(perSecond / rowsPerSecond)],
        goals: [atLeast(perSecond, 20_000, 'a second')],
      },
    ],
  });
}

if (import.meta.main) await Report.of(benchAgents);
