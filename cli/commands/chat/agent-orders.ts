import { agentSessions } from '../../../src/api/agents/sessions.ts';
import type { Client } from '../../../src/client/client.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import type { Cli } from '../../cli.ts';
import { beginTurn } from '../session/begin.ts';
import { withNext } from '../session/next-command.ts';
import type { ChatState } from './chat-state.ts';
import { AGENT_SLASH, type AgentSlashName } from './slash.ts';

/** Does what a person wants of a session. */
export class AgentOrders {
  /** The person has ended a turn. */
  hasInterrupted = false;

  constructor(
    private readonly cli: Cli,
    private readonly client: Client,
    private readonly state: ChatState,
    private readonly agent: string,
    /** Ends the talk with an exit code. */
    readonly leave: (code: number) => void,
  ) {}

  /** Says something to the agent: an answer, words for the turn that is under way, or a new turn. Errors: RemoteError. */
  async say(text: string): Promise<void> {
    const { options, runningSince } = this.state;
    if (options) await this.steer('user', options[Number(text) - 1] ?? text);
    else if (runningSince !== undefined) await this.steer('user', text);
    else await this.begin(text, false);
  }

  /** Begins a turn and answers its number. Errors: RemoteError. */
  async begin(text: string, queue: boolean): Promise<number> {
    this.state.begins();
    try {
      const { number } = await beginTurn(this.client, this.state.sessionId, text, queue);
      return number;
    } catch (error) {
      this.state.runningSince = undefined;
      throw withNext(error, this.agent);
    }
  }

  /** Ends the turn that is under way. Errors: RemoteError. */
  async interrupt(): Promise<void> {
    this.hasInterrupted = true;
    await this.client.call(agentSessions.InterruptTurn, { params: this.params, body: {} });
  }

  /** Does what a command says. Errors: RemoteError; invalid_argument. */
  async obey(name: AgentSlashName, argument: string): Promise<void> {
    switch (name) {
      case 'quit':
      case 'detach':
        this.leave(EXIT.ok);
        return;
      case 'help':
        for (const line of HELP) this.note(line);
        return;
      case 'steer':
      case 'system':
        if (argument === '') throw invalid({ field: 'text', description: `is missing: /${name} TEXT` });
        await this.steer(name === 'system' ? 'system' : 'user', argument);
        return;
      case 'interrupt':
        await this.interrupt();
        return;
      case 'cancel':
        await this.client.call(agentSessions.CancelSession, { params: this.params, body: {} });
        return;
      case 'complete':
        await this.client.call(agentSessions.CompleteSession, { params: this.params, body: {} });
    }
  }

  private async steer(role: 'user' | 'system', content: string): Promise<void> {
    await this.client.call(agentSessions.SteerSession, { params: this.params, body: { role, content } });
  }

  private get params(): { readonly sessionId: string } {
    return { sessionId: this.state.sessionId };
  }

  private note(line: string): void {
    this.cli.terminal.note(this.cli.terminal.err.style.dim(line));
  }
}

const HELP = [
  ...AGENT_SLASH.help(),
  'A line that ends with \\ goes on in the next. What is typed while a turn runs joins it at its next step.',
];
