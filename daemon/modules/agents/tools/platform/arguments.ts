import type { JsonObject } from '../tool.ts';

const text = (description: string, most: number) => ({ type: 'string', maxLength: most, description });
const count = (description: string) => ({ type: 'integer', minimum: 0, maximum: 2_147_483_647, description });
const names = (description: string, longest: number) => ({
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: longest },
  maxItems: 256,
  description,
});

/** What a model may say of an agent. What it may not say follows from the agent that says it. */
const FIELDS = {
  description: text('What it is for', 4_096),
  model: text('The model that it asks', 256),
  systemPrompt: text('Its instructions', 200_000),
  tools: names('Names of its tools; only tools that you have yourself', 128),
  mode: { enum: ['primary', 'subagent'], description: 'subagent: only other agents may start it' },
  permissionMode: {
    enum: ['rules', 'ask', 'always', 'deny'],
    description: 'ask: a person decides before it changes something; deny: it changes nothing',
  },
  approvalTools: names(
    'Further tools, with * for any characters, of which each call waits for a person',
    256,
  ),
  maxTurns: count('Turns of a session; 0: as many as the instance allows'),
  maxToolCallsPerTurn: count('Calls of tools in a turn; 0: as many as the instance allows'),
  maxSteps: count('Calls of the model in a session; 0: as many as the instance allows'),
  workingDirectory: text('Where its commands begin', 4_096),
  mentionAlias: text('Another name for it', 64),
  temperature: { type: 'number', minimum: 0, maximum: 2 },
  maxTokens: {
    type: 'integer',
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Of one answer of the model',
  },
} as const;

const name = text('A name that no other agent has', 128);
const reference = { ...text('Id, name or alias of an agent', 128), minLength: 1 };

function schema(properties: JsonObject, ...required: readonly string[]): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The schemas of the arguments. */
export const ARGUMENTS = {
  create: schema({ name: { ...name, minLength: 1 }, ...FIELDS }, 'name'),
  update: schema({ agent: reference, name, ...FIELDS }, 'agent'),
  get: schema({ agent: reference }, 'agent'),
  list: schema({
    mode: FIELDS.mode,
    limit: { type: 'integer', minimum: 1, maximum: 200, description: '50 when absent' },
    offset: { type: 'integer', minimum: 0, maximum: 2_147_483_647 },
  }),
} as const;

/** The arguments of create and update, as their schemas have let them through. */
export interface AgentArguments {
  readonly agent?: string;
  readonly name?: string;
  readonly description?: string;
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly tools?: string[];
  readonly mode?: 'primary' | 'subagent';
  readonly permissionMode?: 'rules' | 'ask' | 'always' | 'deny';
  readonly approvalTools?: string[];
  readonly maxTurns?: number;
  readonly maxToolCallsPerTurn?: number;
  readonly maxSteps?: number;
  readonly workingDirectory?: string;
  readonly mentionAlias?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
}
