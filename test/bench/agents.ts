import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentClient, callsOf, script } from '../support/agent-client.ts';
import { type DaemonOptions, startDaemon } from '../support/daemon.ts';
import { clientOf, newSandbox, run } from '../support/scene.ts';
import { startScriptedModel } from '../support/scripted-model/index.ts';
import { NO_SANDBOXES } from '../support/tenants/two-tenants.ts';
import { fill, replay } from './agent-replay.ts';
import { benchStreams } from './agent-streams.ts';
import { AgentTalk } from './agent-talk.ts';
import { namespaceMissing } from './kit/host.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atMost, digits, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 50);
const CYCLES = 10;

/** Turns of agents over HTTP, beside the same calls of the gateway; the model is a process of its own that decides by scripts. */
export async function benchAgents(report: Report): Promise<void> {
  const missing = namespaceMissing();
  const model = await startScriptedModel();
  const driver = missing ? NO_SANDBOXES : { SVC_SANDBOX_DRIVER: 'namespace' };
  const options: DaemonOptions = { env: { ...driver, ...model.env, SVC_LOG_LEVEL: 'warn' } };
  let daemon = await startDaemon(options);
  try {
    const talk = new AgentTalk(daemon, model);
    const bench = new AgentBench(report, talk);
    const rawMs = await bench.plainTurns();
    if (missing) console.log(`commands are not measured: ${missing}`);
    else await bench.toolCycles(rawMs);
    await benchStreams(report, talk);
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

  constructor(
    private readonly report: Report,
    private readonly talk: AgentTalk,
  ) {
    this.agents = talk.agents;
  }

  /** A turn without tools, and the call of the gateway in it. Answers what the call takes, in milliseconds. */
  async plainTurns(): Promise<number> {
    const agentId = await this.agents.agent({});
    const [raw, turns, streamed]: [number[], number[], number[]] = [[], [], []];
    for (let i = -5; i < ROUNDS; i++) {
      const text = () => script(this.talk.key(), 'say The answer is forty-two.');
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
      timed(() => this.turn(sessionId, script(this.talk.key(), ...lines, 'say done')));
    await turn([command]);
    const [none, several]: [number[], number[]] = [[], []];
    for (let i = 0; i < Math.ceil(ROUNDS / CYCLES); i++) {
      none.push(await turn([]));
      several.push((await turn([`repeat ${CYCLES} ${command}`])) / CYCLES);
    }
    const sandboxId = await newSandbox(clientOf(this.talk.daemon));
    const commands: number[] = [];
    for (let i = 0; i < ROUNDS; i++)
      commands.push(await timed(() => run(clientOf(this.talk.daemon), sandboxId, 'true')));
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

  /** A session with one turn, to be filled with events. */
  async finishedSession(): Promise<string> {
    const sessionId = await this.agents.session(await this.agents.agent({}));
    await this.turn(sessionId, script(this.talk.key(), 'say done'));
    const { violations } = await this.talk.model.seen();
    if (violations.length > 0) throw new Error(`the model refused: ${violations[0]?.reason}`);
    return sessionId;
  }

  private async turn(sessionId: string, text: string): Promise<void> {
    const { status, body } = await this.agents.turn(sessionId, text);
    if (status !== 200 || body.turn?.status !== 'TURN_STATUS_COMPLETED')
      throw new Error(`the turn has failed: ${JSON.stringify(body)}`);
    if (callsOf(body.turn).some(({ success }) => !success)) throw new Error('a call has failed');
  }

  private async rawCall(text: string): Promise<void> {
    if (!(await (await this.talk.ask(text)).text()).includes('forty-two')) throw new Error('no answer');
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

if (import.meta.main) await Report.of(benchAgents);
