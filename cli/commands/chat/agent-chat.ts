import type { Client } from '../../../src/client/client.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import { Cli } from '../../cli.ts';
import { reportFailure } from '../../failure.ts';
import { LineEditor } from '../../ui/line-editor.ts';
import { LiveScreen } from '../../ui/live-screen.ts';
import { printable } from '../../ui/table.ts';
import { beforeTurn, getSession, latestEvent, openTurn, type Session } from '../session/begin.ts';
import { harmless } from '../session/call-text.ts';
import { EventView } from '../session/event-view.ts';
import { type AgentEvent, sessionEvents } from '../session/feed.ts';
import { statusText } from '../session/shown.ts';
import { AgentOrders } from './agent-orders.ts';
import { ApprovalDesk } from './approval-desk.ts';
import { ChatFooter } from './chat-footer.ts';
import { ChatState } from './chat-state.ts';
import { onScreen } from './on-screen.ts';
import { AGENT_SLASH } from './slash.ts';
import { SubAgents } from './sub-agents.ts';
import { turnLines } from './turn-lines.ts';

/** How a talk with an agent begins. */
export interface ChatWish {
  /** As it was named: for the command that comes back. */
  readonly agent: string;
  readonly sessionId: string;
  /** Said at once; the talk is over when that turn is. */
  readonly first?: { readonly text: string; readonly queue: boolean };
}

const FRAME_MS = 120;
const CTRL_C = '\x03';
const BY_SIGNAL = { SIGTERM: 143, SIGHUP: 129 } as const;

/** A talk with an agent at a terminal: what it says and does above, and a line below to type in at any time. */
export class AgentChat {
  private readonly screen: LiveScreen;
  private readonly state: ChatState;
  private readonly view: EventView;
  private readonly desk: ApprovalDesk;
  private readonly subAgents: SubAgents;
  private readonly orders: AgentOrders;
  private readonly footer: ChatFooter;
  /** Its lines stand above the live ones. */
  private readonly cli: Cli;
  private readonly leaving = new AbortController();
  private readonly done = Promise.withResolvers<number>();
  private editor: LineEditor | undefined;
  /** Exit codes of turns that have ended, by their numbers. */
  private readonly ends = new Map<number, number>();
  /** The turn after which the talk is over. */
  private lastTurn: number | undefined;
  private begunLine = '';

  constructor(
    private readonly outside: Cli,
    private readonly client: Client,
    private readonly wish: ChatWish,
  ) {
    const { out } = outside.terminal;
    const columns = () => out.columns;
    this.screen = new LiveScreen(out);
    this.cli = new Cli(onScreen(this.screen, outside.terminal), outside.env, outside.flags);
    this.state = new ChatState(wish.sessionId);
    this.view = new EventView({ style: out.style, columns, full: false });
    this.desk = new ApprovalDesk(this.cli, client);
    this.orders = new AgentOrders(this.cli, client, this.state, wish.agent, (code) =>
      this.done.resolve(code),
    );
    this.footer = new ChatFooter(this.state, this.view, this.desk, out.style);
    this.subAgents = new SubAgents(client, { style: out.style, columns }, this.leaving.signal, {
      line: (line) => this.screen.line(line),
      event: (sessionId, event) => this.takeBelow(sessionId, event),
    });
  }

  /** Talks until the person leaves, or until the one turn is over. Returns the exit code. Errors: RemoteError, unreachable. */
  async run(): Promise<number> {
    const after = await this.catchUp();
    this.editor = new LineEditor(this.outside.terminal.out, {
      line: (text) => void this.takeLine(text),
      change: () => this.draw(),
      interrupt: () => void this.interrupt(),
      end: () => this.orders.leave(EXIT.ok),
      key: (sent) => this.takeKey(sent),
      complete: (line) => AGENT_SLASH.complete(line),
    });
    const ticking = setInterval(() => this.state.runningSince !== undefined && this.draw(), FRAME_MS);
    const signals = Object.entries(BY_SIGNAL).map(([name, code]) => {
      const leave = () => this.done.resolve(code);
      process.on(name, leave);
      return () => process.off(name, leave);
    });
    try {
      this.draw();
      this.follow(after).catch((error: unknown) => this.done.reject(error));
      if (this.wish.first) void this.runOnce(this.wish.first);
      return await this.done.promise;
    } finally {
      clearInterval(ticking);
      for (const off of signals) off();
      this.leaving.abort();
      this.editor.close();
      this.screen.close();
      this.sayGoodbye();
    }
  }

  /** Shows how far the session has come, and answers from which event on it is followed. */
  private async catchUp(): Promise<number> {
    const { sessionId, agent, first } = this.wish;
    const session = await getSession(this.client, sessionId);
    this.say(`${harmless(agent)} · ${sessionId}${first ? '' : ' · /help shows what else may be typed'}`);
    if (!first) refuseOver(session);
    const open = openTurn(session);
    if (!first) for (const line of turnLines(session, this.outside.terminal.out)) this.screen.line(line);
    if (!open || first) return latestEvent(this.client, sessionId);
    return beforeTurn(this.client, sessionId, open.turnNumber ?? 0);
  }

  private async follow(after: number): Promise<void> {
    const onConnection = (isThere: boolean) => {
      this.footer.isConnected = isThere;
      this.draw();
    };
    const { sessionId } = this.wish;
    const feed = { sessionId, after, signal: this.leaving.signal, onConnection };
    for await (const { event } of sessionEvents(this.client, feed)) this.take(event);
    if (!this.leaving.signal.aborted) this.done.resolve(this.state.isOver ? EXIT.ok : EXIT.error);
  }

  private take(event: AgentEvent): void {
    for (const piece of this.view.take(event))
      if ('text' in piece) this.screen.text(piece.text);
      else this.screen.line(piece.line);
    this.state.take(event);
    this.subAgents.take(event);
    if (event.type === 'approval.requested') this.announce();
    if (event.type === 'turn.end') this.turnEnded(event);
    this.draw();
  }

  private takeBelow(sessionId: string, event: AgentEvent): void {
    this.state.takeApproval(sessionId, event);
    if (event.type === 'approval.requested') this.announce();
    this.draw();
  }

  private announce(): void {
    const newest = this.state.approvals.at(-1);
    // What it adds is good to know and no more: the calls stand there already.
    if (newest) this.desk.announce(newest).catch(() => undefined);
  }

  private turnEnded({ turnNumber = 0, turn = {}, finishReason }: AgentEvent): void {
    const isCompleted = turn.status === 'TURN_STATUS_COMPLETED';
    const isByHand = finishReason === 'cancelled' && this.orders.hasInterrupted;
    this.ends.set(turnNumber, isCompleted ? EXIT.ok : isByHand ? EXIT.interrupted : EXIT.error);
    this.leaveAfterLast();
  }

  private leaveAfterLast(): void {
    const code = this.lastTurn === undefined ? undefined : this.ends.get(this.lastTurn);
    if (code !== undefined) this.done.resolve(code);
  }

  private async runOnce({ text, queue }: NonNullable<ChatWish['first']>): Promise<void> {
    try {
      this.lastTurn = await this.orders.begin(text, queue);
      this.leaveAfterLast();
    } catch (error) {
      this.done.reject(error);
    }
  }

  private async takeLine(line: string): Promise<void> {
    const goesOn = line.endsWith('\\');
    const text = this.begunLine + (goesOn ? `${line.slice(0, -1)}\n` : line);
    this.begunLine = goesOn ? text : '';
    this.footer.isAskingLeave = false;
    if (!goesOn && text.trim() !== '') await this.carryOut(text);
    this.draw();
  }

  private async carryOut(text: string): Promise<void> {
    const [approval] = this.state.approvals;
    const typed = AGENT_SLASH.read(text);
    this.echo(text, approval !== undefined);
    try {
      if (typed.kind === 'slash') await this.orders.obey(typed.name, typed.argument);
      else if (typed.kind === 'unknown')
        this.say(`There is no /${typed.name}; ${typed.near ? `did you mean /${typed.near}?` : 'see /help'}`);
      else if (approval) await this.desk.take(approval, typed.text);
      else await this.orders.say(typed.text);
    } catch (error) {
      reportFailure(error, this.cli.terminal, this.cli.env);
    }
  }

  private echo(text: string, isDecision: boolean): void {
    if (isDecision) return;
    const { style } = this.outside.terminal.out;
    const space = this.state.runningSince === undefined ? '\n' : '';
    this.screen.line(`${space}${style.cyan(`> ${printable(text).replaceAll('\n', '\n  ')}`)}`);
  }

  /** Ctrl-C: drops what was typed; while a turn runs it asks, and the next one interrupts; else it leaves. */
  private async interrupt(): Promise<void> {
    this.begunLine = '';
    if (this.editor?.text) this.editor.drop();
    else if (this.state.runningSince === undefined) this.orders.leave(EXIT.interrupted);
    else if (!this.footer.isAskingLeave) this.footer.isAskingLeave = true;
    else {
      this.footer.isAskingLeave = false;
      await this.orders.interrupt().catch((error: unknown) => {
        reportFailure(error, this.cli.terminal, this.cli.env);
      });
    }
    this.draw();
  }

  /** The key after the first Ctrl-C: d detaches, every other one goes on. */
  private takeKey(sent: string): boolean {
    if (!this.footer.isAskingLeave || sent === CTRL_C) return false;
    this.footer.isAskingLeave = false;
    if (sent !== 'd') return false;
    this.orders.leave(EXIT.ok);
    return true;
  }

  private draw(): void {
    if (!this.editor || this.leaving.signal.aborted) return;
    const { text: typed, cursor } = this.editor;
    this.screen.show({ ...this.footer.lines(this.begunLine !== ''), typed, cursor });
  }

  private sayGoodbye(): void {
    const { agent, sessionId, first } = this.wish;
    if (this.state.isOver) return;
    const isRunning = this.state.runningSince !== undefined;
    if (isRunning) this.outside.terminal.note('The turn goes on.');
    if (isRunning || !first)
      this.outside.terminal.note(`Come back: svc chat ${agent} --session ${sessionId}`);
  }

  private say(line: string): void {
    this.screen.line(this.outside.terminal.out.style.dim(line));
  }
}

/** Errors: failed_precondition when nothing can be said in a session any more. */
function refuseOver(session: Session): void {
  const status = statusText(session);
  if (status === 'completed' || status === 'cancelled')
    throw fail('failed_precondition', {
      message: `The session ${session.id} is ${status}. What was said: svc session show ${session.id}`,
    });
}
