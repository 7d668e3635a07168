import { type AgentClient, callsOf, type Event, type Session, script, type Told } from '../agent-client.ts';
import { until } from '../scene.ts';
import type { Deed, Dice } from './deeds.ts';
import { isCut, persist, QUIET_MS } from './persist.ts';
import type { Reviewer } from './reviewer.ts';

/** What became of a survivor. */
export interface Life {
  readonly sessionId: string;
  readonly deeds: readonly Deed[];
  /** All that it was told, over all connections. */
  readonly told: readonly Told[];
  readonly session: Session;
  /** What was said to it meanwhile and was accepted. */
  readonly asides: readonly string[];
  readonly isCancelled: boolean;
  /** How often a connection was cut on which it had been told something. */
  readonly cuts: number;
}

/** What a survivor is put among. */
export interface Surroundings {
  readonly agents: AgentClient;
  readonly reviewer: Reviewer;
  /** Told of every event as it comes. */
  readonly seen: (type: string) => void;
  readonly dice: Dice;
}

/** One in so many is cancelled, and one in so many is spoken to. */
const CANCELLED = 12;
const SPOKEN_TO = 3;

/** A session that goes on while its daemon is killed again and again, and somebody who watches and answers it all the time. */
export class Survivor {
  private readonly told: Told[] = [];
  private readonly asides: string[] = [];
  private readonly doing: Promise<unknown>[] = [];
  private isCancelled = false;
  private cuts = 0;

  constructor(
    private readonly world: Surroundings,
    private readonly key: string,
    private readonly deeds: readonly Deed[],
  ) {}

  /** Runs one turn of a new session to its end. Errors: events that are missing, doubled or out of order. */
  async live(agentId: string): Promise<Life> {
    const { agents, dice } = this.world;
    const sessionId = await persist(() => agents.session(agentId));
    // Whoever is spoken to in his last words says them again.
    const lines = [...this.deeds.flatMap(({ lines }) => lines), `repeat 3 say end of ${this.key}`];
    if (dice(CANCELLED) === 0) this.doing.push(this.cancel(sessionId));
    else if (dice(SPOKEN_TO) === 0) this.doing.push(this.speak(sessionId));
    while (!this.isOver()) await this.watchAgain(sessionId, script(this.key, ...lines));
    await Promise.all(this.doing);
    await this.takeRest(sessionId);
    const session = await persist(() => agents.get(sessionId));
    const { told, deeds, asides, isCancelled, cuts } = this;
    return { sessionId, deeds, told, session, asides, isCancelled, cuts };
  }

  private async watchAgain(sessionId: string, input: string): Promise<void> {
    const before = this.told.length;
    try {
      await this.watch(sessionId, input);
    } catch (error) {
      if (!isCut(error)) throw error;
      if (this.told.length > before) this.cuts++;
      await Bun.sleep(20);
    }
  }

  private async watch(sessionId: string, input: string): Promise<void> {
    const { agents } = this.world;
    const { turnCount = 0, status } = await agents.get(sessionId);
    if (status === 'SESSION_STATUS_CANCELLED' && turnCount === 0)
      throw new Error('cancelled before it began');
    const stream =
      this.told.length > 0 || turnCount > 0
        ? agents.stream(sessionId, '', { lastEventId: this.told.at(-1)?.id ?? '0' })
        : agents.stream(sessionId, input);
    for await (const one of stream) this.take(sessionId, one);
  }

  private take(sessionId: string, one: Told): void {
    // A sign of life is no part of what has happened.
    if (one.result?.type === 'approval.heartbeat') return;
    if (Number(one.id) !== this.told.length + 1)
      throw new Error(`${sessionId}: event ${one.id} follows ${this.told.length}`);
    this.told.push(one);
    const { result = {} } = one;
    this.world.seen(result.type ?? '');
    if (result.type === 'approval.requested')
      this.doing.push(this.world.reviewer.decide(result.reviewId ?? ''));
    if (result.type === 'user_input.requested') this.doing.push(this.answer(sessionId, result));
  }

  /** What comes after the turn: the end of the session. */
  private async takeRest(sessionId: string): Promise<void> {
    const path = `/v1/agents/sessions/${sessionId}/events?after=${this.told.length}`;
    const { body } = await persist(() =>
      this.world.agents.ask<{ events: Array<{ id: number; event: Event }> }>('GET', path),
    );
    for (const { id, event } of body.events) this.take(sessionId, { id: String(id), result: event });
  }

  private isOver(): boolean {
    return this.told.some(({ result }) => result?.type === 'turn.end');
  }

  /** Cancels the session at some moment of its first turn. */
  private async cancel(sessionId: string): Promise<void> {
    await until(() => this.told.length > 1, QUIET_MS);
    await Bun.sleep(this.world.dice(600));
    const { status } = await persist(() => this.world.agents.act(sessionId, 'cancel'));
    if (status !== 200) throw new Error(`the cancel of ${sessionId} was answered ${status}`);
    this.isCancelled = true;
  }

  /** Says something at some moment. What is cut off may have arrived or not; what was accepted has. */
  private async speak(sessionId: string): Promise<void> {
    await until(() => this.told.length > 1, QUIET_MS);
    for (let i = 0; i < 2 && !this.isOver(); i++) {
      const content = `aside ${this.key}-${i}`;
      const body = { role: 'system', content };
      const answer = await this.world.agents.act(sessionId, 'steer', body).catch((error) => {
        if (!isCut(error)) throw error;
      });
      if (answer?.status === 200) this.asides.push(content);
      await Bun.sleep(this.world.dice(300));
    }
  }

  /** Says the answer until the question is no longer open: an answer that was cut off may have arrived or not. */
  private async answer(sessionId: string, { toolArgs = '', userInputId }: Event): Promise<void> {
    const { agents, dice } = this.world;
    await Bun.sleep(dice(250));
    const content = `answer to ${(JSON.parse(toolArgs) as { question: string }).question}`;
    await until(async () => {
      const { turns = [] } = await persist(() => agents.get(sessionId));
      const call = callsOf(turns[0]).find(({ id }) => id === userInputId);
      if (call?.state !== 'asking') return true;
      await agents.act(sessionId, 'steer', { role: 'user', content }).catch((error) => {
        if (!isCut(error)) throw error;
      });
      return false;
    }, QUIET_MS);
  }
}
