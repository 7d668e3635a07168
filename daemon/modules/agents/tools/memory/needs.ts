import { AppError } from '../../../../../src/errors/app-error.ts';
import type { Caller } from '../../../../http/route.ts';
import type { MemoryModule } from '../../../memory/index.ts';
import type { Agent } from '../../definitions/agent.ts';
import type { AgentMemories, NewMemory, Recalled } from '../../memories/face.ts';
import { failed, type ToolContext, type ToolOutcome } from '../tool.ts';

/** What the tools of memory call. */
export interface MemoryToolNeeds {
  readonly recall: AgentMemories['recall'];
  /** As AgentMemories.remember, for one call of a tool: once, however often it is carried out. */
  readonly rememberOnce: (
    caller: Caller,
    agent: Agent,
    callId: string,
    memory: NewMemory,
    signal: AbortSignal,
  ) => Promise<Recalled>;
  readonly documents: Pick<MemoryModule['documents'], 'query'>;
}

/** Does what may go wrong by itself, which is an outcome for the model. Errors: that the turn was cancelled, and what nobody expects. */
export async function attempted(
  { signal }: ToolContext,
  work: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    return failed(error.message);
  }
}
