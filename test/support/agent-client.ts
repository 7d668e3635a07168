import type { AgentSession } from '../../src/api/agents/sessions.ts';
import type { AgentEvent } from '../../src/api/agents/turns.ts';
import type { Value } from '../../src/api/schema.ts';
import { readSse } from '../../src/client/sse.ts';
import { until } from './scene.ts';

/** An answer, whatever its status. */
export interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly body: T & Failure;
}

/** What a body says when it is a failure. */
export interface Failure {
  readonly code?: number;
  readonly message?: string;
  readonly details?: ReadonlyArray<{ readonly fieldViolations?: ReadonlyArray<{ readonly field: string }> }>;
}

/** A session as it is shown. */
export type Session = Value<typeof AgentSession>;
/** A turn as it is shown. */
export type Turn = NonNullable<Session['turns']>[number];
/** What happens in a session. */
export type Event = Value<typeof AgentEvent>;

/** A call of a tool, as a turn shows it. */
export interface ShownCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
  readonly success?: boolean;
  readonly result?: string;
  readonly state?: string;
}

/** A message of a stream. */
export interface Told {
  /** Of the message, for Last-Event-ID. */
  readonly id: string;
  readonly result?: Event;
  readonly error?: Failure;
}

/** How a stream is opened. */
export interface StreamWish {
  readonly body?: object;
  readonly lastEventId?: string;
  readonly signal?: AbortSignal;
}

/** Somebody who has agents in a daemon, and talks to it as any program would. */
export class AgentClient {
  constructor(
    /** The daemon's address; it may change when the daemon starts again. */
    private readonly url: () => string,
    private readonly apiKey: string,
  ) {}

  /** Calls an operation by hand. */
  async ask<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const response = await this.fetch(path, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as T & Failure };
  }

  /** Makes an agent. Answers its id. Errors: any answer but a success. */
  async agent(fields: object): Promise<string> {
    const name = `agent-${Bun.randomUUIDv7().slice(-12)}`;
    const body = { name, model: 'scripted/main', systemPrompt: 'You do what scripts say.', ...fields };
    return (await this.must<{ agent: { id: string } }>('POST', '/v1/agents', body)).agent.id;
  }

  /** Opens a session. Answers its id. Errors: any answer but a success. */
  async session(agentId: string, metadata: object = {}): Promise<string> {
    const body = { agentId, metadata };
    return (await this.must<{ session: { id: string } }>('POST', '/v1/agents/sessions', body)).session.id;
  }

  /** Makes a function that has the effect `{id, ms}` at an address. */
  async effect(url: string, name = 'effect'): Promise<void> {
    const parameters = {
      type: 'object',
      properties: { id: { type: 'string' }, ms: { type: 'number' } },
      required: ['id'],
    };
    await this.must('POST', '/v1/functions', { name, webhook: { url }, parameters, maxRetries: 0 });
  }

  /** A session with its turns. Errors: any answer but a success. */
  async get(sessionId: string): Promise<Session> {
    return (await this.must<{ session: Session }>('GET', `/v1/agents/sessions/${sessionId}`)).session;
  }

  /** Runs a turn and waits for its end. */
  turn(
    sessionId: string,
    userInput: string,
    more: object = {},
  ): Promise<Answer<{ turn?: Turn; sessionStatus?: string }>> {
    return this.ask('POST', `/v1/agents/sessions/${sessionId}/turns`, { userInput, ...more });
  }

  /** Runs a turn and tells what happens. Errors: when it is refused, as text with its status. */
  async *stream(sessionId: string, userInput: string, wish: StreamWish = {}): AsyncGenerator<Told> {
    const response = await this.fetch(`/v1/agents/sessions/${sessionId}/turns/stream`, {
      method: 'POST',
      body: JSON.stringify({ userInput, enableStreaming: true, ...wish.body }),
      headers: wish.lastEventId === undefined ? {} : { 'last-event-id': wish.lastEventId },
      signal: wish.signal,
    });
    if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
    for await (const { id, data } of readSse(response.body))
      yield { id, ...(JSON.parse(data) as Omit<Told, 'id'>) };
  }

  /** Runs a turn and answers all that it told. */
  async told(sessionId: string, userInput: string, wish?: StreamWish): Promise<Told[]> {
    const all: Told[] = [];
    for await (const one of this.stream(sessionId, userInput, wish)) all.push(one);
    return all;
  }

  /** Waits until a session stands so. */
  untilStatus(sessionId: string, status: string, ms?: number): Promise<Session> {
    return until(async () => {
      const session = await this.get(sessionId);
      return session.status === `SESSION_STATUS_${status}` && session;
    }, ms);
  }

  /** Does something to a session: steer, cancel, complete. */
  act(sessionId: string, what: 'steer' | 'cancel' | 'complete', body: object = {}): Promise<Answer> {
    return this.ask('POST', `/v1/agents/sessions/${sessionId}/${what}`, body);
  }

  /** Removes the sandboxes that sessions have left: they outlive their daemon. */
  async removeSandboxes(): Promise<void> {
    const list = '/v1/sandbox/instances?limit=500';
    for (;;) {
      const { instances = [] } = await this.must<{
        instances?: Array<{ id: string; lifecycleState: string }>;
      }>('GET', list);
      const living = instances.filter(({ lifecycleState }) => lifecycleState !== 'terminated');
      if (living.length === 0) return;
      await Promise.all(living.map(({ id }) => this.ask('POST', `/v1/sandbox/${id}/terminate`, {})));
    }
  }

  private async must<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.ask<T>(method, path, body);
    if (answer.status === 200) return answer.body;
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  private fetch(path: string, init: RequestInit): Promise<Response> {
    const headers = { 'x-svc-api-key': this.apiKey, 'content-type': 'application/json', ...init.headers };
    return fetch(this.url() + path, { ...init, headers });
  }
}

/** The calls of a turn. */
export function callsOf(turn: Turn | undefined): ShownCall[] {
  return JSON.parse(turn?.toolCalls || '[]') as ShownCall[];
}

/** The text of a script. */
export function script(key: string, ...lines: readonly string[]): string {
  return [`#!script key=${key}`, ...lines].join('\n');
}

/** The field that an answer names. */
export function fieldOf({ body }: Answer<object>): string | undefined {
  return body.details?.flatMap(({ fieldViolations = [] }) => fieldViolations)[0]?.field;
}
