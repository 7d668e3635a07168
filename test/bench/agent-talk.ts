import { AgentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import type { ScriptedModel } from '../support/scripted-model/index.ts';

/** How benchmarks talk to agents, and to the model behind them without an agent. */
export class AgentTalk {
  readonly agents: AgentClient;
  private keys = 0;

  constructor(
    readonly daemon: TestDaemon,
    readonly model: ScriptedModel,
  ) {
    this.agents = new AgentClient(() => daemon.url, daemon.apiKey);
  }

  /** Sends the messages of a first turn to the gateway, streamed. */
  ask(content: string): Promise<Response> {
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

  /** A key that no other script has. */
  key(): string {
    return `b${++this.keys}`;
  }
}
