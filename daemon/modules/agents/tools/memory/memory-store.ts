import { MEMORY_SCOPES, MEMORY_TYPES } from '../../../../../src/api/agents/memories.ts';
import { redactText } from '../../../../../src/kit/redact.ts';
import type { MemoryScope, MemoryType } from '../../memories/face.ts';
import { LIMITS } from '../../memories/limits.ts';
import { reaches } from '../../memories/shelves.ts';
import { done, failed, type JsonObject, type Tool, type ToolContext, type ToolOutcome } from '../tool.ts';
import { attempted, type MemoryToolNeeds } from './needs.ts';

interface Arguments {
  readonly content: string;
  readonly factKey?: string;
  readonly type?: MemoryType;
  readonly scope?: MemoryScope;
}

const CONFIDENCE = 0.8;

const parameters: JsonObject = {
  type: 'object',
  properties: {
    content: {
      type: 'string',
      minLength: 1,
      maxLength: LIMITS.contentLength,
      description: 'What to remember: a sentence that is understood without this conversation. No secrets.',
    },
    factKey: {
      type: 'string',
      maxLength: LIMITS.factKeyLength,
      description:
        'What it is about, such as user.home_city. It takes the place of what is kept under the same key.',
    },
    type: { type: 'string', enum: [...MEMORY_TYPES], description: 'fact when absent.' },
    scope: {
      type: 'string',
      enum: [...MEMORY_SCOPES],
      description:
        'Who shares it: this agent, all agents of this user, or the organization. As you are set up when absent.',
    },
  },
  required: ['content'],
  additionalProperties: false,
};

/** `memory_store`: keeps something. An agent writes no farther than it may read. */
export function memoryStore({ rememberOnce }: MemoryToolNeeds): Tool {
  const store = async (args: JsonObject, context: ToolContext): Promise<ToolOutcome> => {
    const { caller, agent, callId, sessionId, turnNumber, signal } = context;
    const { content, factKey, type = 'fact', scope = agent.memory.scope } = args as unknown as Arguments;
    if (!reaches(agent.memory.scope, scope))
      return failed(`This agent keeps memories of the scope ${agent.memory.scope} only, not ${scope}.`);
    if (redactText(content) !== content)
      return failed('It holds what looks like a key or a token. Memory is not for secrets.');
    const memory = { content, factKey, type, scope, confidence: CONFIDENCE, sessionId, turnNumber };
    const kept = await rememberOnce(caller, agent, callId, { ...memory, source: 'tool_stored' }, signal);
    return done(JSON.stringify({ id: kept.id, remembered: kept.content }));
  };
  return {
    name: 'memory_store',
    description: 'Remembers something for later conversations.',
    parameters,
    run(args, context) {
      context.note(context.callId);
      return attempted(context, () => store(args, context));
    },
    recover: (args, context) => attempted(context, () => store(args, context)),
  };
}
