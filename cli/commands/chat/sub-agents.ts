import type { Client } from '../../../src/client/client.ts';
import type { Style } from '../../ui/color.ts';
import { EventView } from '../session/event-view.ts';
import { type AgentEvent, sessionEvents } from '../session/feed.ts';

/** How it is shown. */
export interface SubAgentLook {
  readonly style: Style;
  readonly columns: () => number;
}

/** Hears what sub-agents do. */
export interface SubAgentListener {
  line(line: string): void;
  event(sessionId: string, event: AgentEvent): void;
}

const RAIL = '│ ';

/** Watches the agents that an agent starts, and those that they start: their calls as lines beside a rail, without their words. */
export class SubAgents {
  private readonly watched = new Set<string>();

  constructor(
    private readonly client: Client,
    private readonly look: SubAgentLook,
    private readonly signal: AbortSignal,
    private readonly listener: SubAgentListener,
  ) {}

  /** Takes an event of a session: when it starts an agent, that is watched from its beginning. */
  take({ type, toolArgs = '{}' }: AgentEvent, depth = 1): void {
    if (type !== 'spawn.start') return;
    const sessionId = sessionIn(toolArgs);
    if (sessionId === undefined || this.watched.has(sessionId)) return;
    this.watched.add(sessionId);
    // What cannot be watched is told by the call of the tool.
    void this.watch(sessionId, depth).catch(() => undefined);
  }

  private async watch(sessionId: string, depth: number): Promise<void> {
    const { style } = this.look;
    const rail = RAIL.repeat(depth);
    const columns = () => this.look.columns() - rail.length;
    const view = new EventView({ style, columns, full: false });
    for await (const { event } of sessionEvents(this.client, { sessionId, after: 0, signal: this.signal })) {
      this.take(event, depth + 1);
      this.listener.event(sessionId, event);
      if (event.type === 'turn.end' || event.type === 'session.end') continue;
      for (const piece of view.take(event))
        if ('line' in piece) this.listener.line(`${style.dim(rail)}${piece.line}`);
    }
  }
}

function sessionIn(toolArgs: string): string | undefined {
  try {
    const { sessionId } = JSON.parse(toolArgs) as { sessionId?: unknown };
    return typeof sessionId === 'string' && sessionId !== '' ? sessionId : undefined;
  } catch {
    return undefined;
  }
}
