import type { Static, TObject } from '../../../../src/api/schema.ts';
import { AppError, fail } from '../../../../src/errors/app-error.ts';
import { failed, type JsonObject, type Tool, type ToolContext, type ToolOutcome } from './tool.ts';

/** A tool whose arguments have the types of their schema. */
export interface Declaration<S extends TObject>
  extends Pick<Tool, 'name' | 'description' | 'isRead' | 'isParallel'> {
  readonly parameters: S;
  run(args: Static<S>, context: ToolContext): Promise<ToolOutcome>;
  recover?(args: Static<S>, context: ToolContext, note: string): Promise<ToolOutcome | undefined>;
}

/**
 * Makes a tool. What a service refuses (an AppError) becomes an outcome in its words; a turn that was cancelled is told as
 * `cancelled`; anything else is thrown on.
 */
export function declareTool<S extends TObject>({ parameters, run, recover, ...rest }: Declaration<S>): Tool {
  const guard = async <T>(context: ToolContext, work: () => Promise<T>): Promise<T | ToolOutcome> => {
    try {
      return await work();
    } catch (error) {
      if (context.signal.aborted) throw fail('cancelled');
      if (error instanceof AppError && error.code !== 'internal') return failed(wordsOf(error));
      throw error;
    }
  };
  return {
    ...rest,
    parameters: plain(parameters),
    run: (args, context) => guard(context, () => run(args as Static<S>, context)),
    ...(recover && {
      recover: (args: JsonObject, context: ToolContext, note: string) =>
        guard(context, () => recover(args as Static<S>, context, note)),
    }),
  };
}

/** An error as a model is told of it. */
export function wordsOf({ message, hint }: AppError): string {
  // Hints that name a command are for people at a terminal.
  return hint === undefined || hint.includes('svc ') ? message : `${message} ${hint}`;
}

/** Waits for work unless the turn is cancelled. The work itself goes on. Errors: cancelled. */
export async function unlessCancelled<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(fail('cancelled'));
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', leave);
    work.catch(() => undefined);
  }
}

/** The schema as it travels, without the marks of the library that made it. */
function plain(schema: TObject): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}
