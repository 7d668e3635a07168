import { type AgentClient, callsOf, type Event, type Session, script, type Told } from './agent-client.ts';
import { until } from './scene.ts';

/** One thing that a survivor's turn does. Each has an id of its own, by which its effect is found. */
export interface Deed {
  readonly kind: 'effect' | 'guarded' | 'shell' | 'asks' | 'talks';
  readonly id: string;
  readonly lines: readonly string[];
}

/** What became of a survivor. */
export interface Life {
  readonly sessionId: string;
  readonly deeds: readonly Deed[];
  /** All that it was told, over all connections. */
  readonly told: readonly Told[];
  readonly session: Session;
  /** Ids of deeds whose call was cut off so that nobody knows what became of it; they were asked about, and not done again. */
  readonly unknown: ReadonlySet<string>;
  /** How often a connection was cut on which it had been told something. */
  readonly cuts: number;
}

/** What the model accepts as the result of a call that was cut off. */
const OR_UNKNOWN = '|outcome of this call is unknown';
const QUIET_MS = 60_000;

/** The next whole number below `most`, from a generator of a test. */
export type Dice = (most: number) => number;

/** Numbers that are the same for the same seed (mulberry32). */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  return (most) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
}

/** A few deeds under a key. Without `withShell` there are no commands among them. */
export function deedsOf(key: string, dice: Dice, withShell: boolean): Deed[] {
  const kinds: Deed['kind'][] = [
    'effect',
    'guarded',
    'asks',
    'talks',
    ...(withShell ? (['shell', 'shell'] as const) : []),
  ];
  return Array.from({ length: 2 + dice(3) }, (_, i) => {
    const kind = kinds[dice(kinds.length)] ?? 'effect';
    const id = `${key}-${i}`;
    return { kind, id, lines: linesOf(kind, id, dice(150)) };
  });
}

function linesOf(kind: Deed['kind'], id: string, ms: number): string[] {
  switch (kind) {
    case 'effect':
    case 'guarded':
      return [`call ${kind} ${JSON.stringify({ id, ms })}`, `expect /"count":1\\b${OR_UNKNOWN}/`];
    case 'shell': {
      const command = `sleep 0.${ms}; echo ${id} >> effects.log; echo did ${id}`;
      return [`call sandbox_shell ${JSON.stringify({ command })}`, `expect /did ${id}${OR_UNKNOWN}/`];
    }
    case 'asks':
      return [`call ask_user ${JSON.stringify({ question: id })}`, `expect /answer to ${id}\\b/`];
    case 'talks':
      return [
        'pace 8',
        `think ${`${id} `.repeat(12).trim()}`,
        `call effect ${JSON.stringify({ id })}`,
        `expect /"count":1\\b${OR_UNKNOWN}/`,
      ];
  }
}

/** A session that goes on while its daemon is killed again and again, and somebody who watches and answers it all the time. */
export class Survivor {
  readonly told: Told[] = [];
  private readonly unknown = new Set<string>();
  private readonly doing: Promise<unknown>[] = [];
  private cuts = 0;

  constructor(
    private readonly agents: AgentClient,
    private readonly key: string,
    private readonly deeds: readonly Deed[],
    /** Told of every event as it comes. */
    private readonly seen: (type: string) => void,
    private readonly dice: Dice,
  ) {}

  /** Runs one turn of a new session to its end. Errors: events that are missing, doubled or out of order. */
  async live(agentId: string): Promise<Life> {
    const sessionId = await persist(() => this.agents.session(agentId));
    const input = script(this.key, ...this.deeds.flatMap(({ lines }) => lines), `say end of ${this.key}`);
    while (!this.told.some(({ result }) => result?.type === 'turn.end')) {
      const before = this.told.length;
      try {
        await this.watch(sessionId, input);
      } catch (error) {
        if (!isCut(error)) throw error;
        if (this.told.length > before) this.cuts++;
        await Bun.sleep(20);
      }
    }
    await Promise.all(this.doing);
    const session = await persist(() => this.agents.get(sessionId));
    const { told, deeds, unknown, cuts } = this;
    return { sessionId, deeds, told, session, unknown, cuts };
  }

  private async watch(sessionId: string, input: string): Promise<void> {
    const isBegun = this.told.length > 0 || ((await this.agents.get(sessionId)).turnCount ?? 0) > 0;
    const stream = isBegun
      ? this.agents.stream(sessionId, '', { lastEventId: this.told.at(-1)?.id ?? '0' })
      : this.agents.stream(sessionId, input);
    for await (const one of stream) {
      if (Number(one.id) !== this.told.length + 1)
        throw new Error(`${sessionId}: event ${one.id} follows ${this.told.length}`);
      this.told.push(one);
      if (one.result) this.heed(sessionId, one.result);
    }
  }

  private heed(sessionId: string, event: Event): void {
    this.seen(event.type ?? '');
    if (event.type === 'approval.requested') this.doing.push(this.decide(event));
    if (event.type === 'user_input.requested') this.doing.push(this.answer(sessionId, event));
  }

  /** Approves what a rule has asked about, and denies what may have happened already. */
  private async decide({ reviewId, pendingToolCalls = [] }: Event): Promise<void> {
    await Bun.sleep(this.dice(250));
    const path = `/v1/agents/reviews/${reviewId}`;
    const { body } = await persist(() => this.agents.ask<{ review: { note?: string } }>('GET', path));
    const isUnknown = Boolean(body.review.note);
    if (isUnknown) for (const { toolArgs = '' } of pendingToolCalls) this.unknown.add(idIn(toolArgs));
    const action = `APPROVAL_ACTION_${isUnknown ? 'DENY' : 'APPROVE'}`;
    const { status } = await persist(() => this.agents.ask('POST', `${path}/submit`, { action }));
    if (status !== 200) throw new Error(`the decision about ${reviewId} was answered ${status}`);
  }

  /** Says the answer until the question is no longer open: an answer that was cut off may have arrived or not. */
  private async answer(sessionId: string, { toolArgs = '', userInputId }: Event): Promise<void> {
    await Bun.sleep(this.dice(250));
    const content = `answer to ${(JSON.parse(toolArgs) as { question: string }).question}`;
    await until(async () => {
      const { turns = [] } = await persist(() => this.agents.get(sessionId));
      const call = callsOf(turns[0]).find(({ id }) => id === userInputId);
      if (call?.state !== 'asking') return true;
      await this.agents.act(sessionId, 'steer', { role: 'user', content }).catch(() => undefined);
      return false;
    }, QUIET_MS);
  }
}

/** Does something again while nobody answers. */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + QUIET_MS; ; ) {
    try {
      return await work();
    } catch (error) {
      if (!isCut(error) || Date.now() > end) throw error;
      await Bun.sleep(20);
    }
  }
}

/** Whether the daemon was killed meanwhile: the connection was refused, or broke. */
function isCut(error: unknown): boolean {
  const { code = '', name = '', message = '' } = error as { code?: string; name?: string; message?: string };
  return (
    /ECONN|ConnectionRefused|ConnectionClosed|FailedToOpenSocket|EPIPE/.test(`${code} ${name} ${message}`) ||
    /socket|Unable to connect|terminated|closed/i.test(message)
  );
}

function idIn(args: string): string {
  const { id, command, question } = JSON.parse(args) as Record<string, string | undefined>;
  return id ?? question ?? /echo did (\S+)/.exec(command ?? '')?.[1] ?? args;
}
