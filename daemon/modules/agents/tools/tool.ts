import type { Caller } from '../../../http/route.ts';
import type { Agent } from '../definitions/agent.ts';

/** JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** What came of a call: text for the model. What goes wrong by itself is an outcome too. */
export interface ToolOutcome {
  readonly ok: boolean;
  readonly output: string;
}

/** What a tool may tell those who watch the turn, besides its result. Types and fields are those of the spec's stream. */
export interface ToolEvent {
  readonly type:
    | 'sandbox.create'
    | 'sandbox.ready'
    | 'sandbox.exec'
    | 'sandbox.result'
    | 'sandbox.error'
    | 'web.search.start'
    | 'web.search.results'
    | 'spawn.start'
    | 'spawn.end';
  readonly sandboxId?: string;
  readonly sandboxExitCode?: number;
  readonly sandboxDurationMs?: string;
  readonly error?: string;
  /** JSON or text, for what has no field of its own: the query and the results of a search, a task. */
  readonly toolArgs?: string;
  readonly toolResult?: string;
}

/** Where a call stands. */
export interface ToolContext {
  /** Whose right it is done by: who has begun the turn. */
  readonly caller: Caller;
  readonly agent: Agent;
  readonly sessionId: string;
  readonly turnNumber: number;
  /** Of this call; the same after a restart. */
  readonly callId: string;
  /** Fires when the turn is cancelled or its time is over. */
  readonly signal: AbortSignal;
  /** Writes down what `recover` needs; it is on the disk when this returns. The last one counts. */
  note(text: string): void;
  /** Tells those who watch; stored before it is sent. */
  tell(event: ToolEvent): void;
}

/** Something that a model may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments (type object). They are checked against it before `run`. */
  readonly parameters: JsonObject;
  /** It only looks: it may be carried out again after a crash, and beside other calls. */
  readonly isRead?: true;
  /** It may go on beside other calls of the same answer. */
  readonly isParallel?: true;
  /** The turn waits for a person's words, which are its result: `run` is never called. */
  readonly asks?: true;
  run(args: JsonObject, context: ToolContext): Promise<ToolOutcome>;
  /**
   * What became of a call that the end of the daemon has cut off, from what it had noted last; it may wait for its end.
   * Undefined: nobody knows. A tool that only looks needs none.
   */
  recover?(args: JsonObject, context: ToolContext, note: string): Promise<ToolOutcome | undefined>;
}

/** Where tools come from. */
export interface ToolSource {
  /** The tool that an agent means by a name; undefined when this source has none. */
  find(agent: Agent, name: string): Tool | undefined;
}

/** An outcome that went wrong. */
export const failed = (output: string): ToolOutcome => ({ ok: false, output });

/** An outcome that went well. */
export const done = (output: string): ToolOutcome => ({ ok: true, output });
