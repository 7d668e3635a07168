/** What a stock client is asked to do, whatever its words for it. */
export interface Asked {
  readonly model: string;
  readonly words: string;
  readonly apiKey?: string;
  /** Tools that take a text; they must be called. */
  readonly tools?: readonly string[];
  readonly signal?: AbortSignal;
}

/** A call of a tool, as its client hands it to a program. */
export type ToolCall = readonly [name: string, input: unknown];

/** What a stream said until it ended, or broke. */
export interface Streamed {
  readonly text: string;
  readonly pieces: number;
  readonly calls: readonly ToolCall[];
  readonly failure?: Failure;
}

/** An error of a client. */
export interface Failure {
  /** The HTTP status; undefined for an error in the middle of a stream. */
  readonly status: number | undefined;
  readonly message: string;
}

/** A stock client of a dialect, set up for a daemon. What it lacks is undefined, and the tests list it. */
export interface StockClient {
  readonly name: string;
  whole(asked: Asked): Promise<{ text: string; outputTokens: number; calls: readonly ToolCall[] }>;
  /** Never rejects: what broke the stream is in the answer. */
  stream(asked: Asked, onPiece?: () => void): Promise<Streamed>;
  /** A value of this JSON schema. */
  object(asked: Asked, schema: object): Promise<unknown>;
  readonly embed?: (model: string, texts: readonly string[]) => Promise<readonly (readonly number[])[]>;
  /** Reads an error that `whole` has thrown. */
  failureOf(error: unknown): Failure;
}

/** The parameters of every tool. */
export const TOOL_SCHEMA = {
  type: 'object' as const,
  properties: { text: { type: 'string' as const } },
  required: ['text'],
  additionalProperties: false,
};

/** Reads a stream piece by piece; what breaks it becomes part of the answer. */
export async function gather(
  failureOf: (error: unknown) => Failure,
  read: (heard: { text: string; pieces: number; calls: ToolCall[] }) => Promise<void>,
): Promise<Streamed> {
  const heard = { text: '', pieces: 0, calls: [] as ToolCall[] };
  try {
    await read(heard);
    return heard;
  } catch (error) {
    return { ...heard, failure: failureOf(error) };
  }
}
