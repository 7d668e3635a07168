import { type BedrockAsk, type BedrockBlock, thoughtSignature } from './upstream-bedrock-answer.ts';

/** Why a request is refused with ValidationException. */
export class BedrockRefusal extends Error {}

const TOP = [
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'additionalModelRequestFields',
  'outputConfig',
  'serviceTier',
  'requestMetadata',
  'guardrailConfig',
  'performanceConfig',
];
const INFERENCE = ['maxTokens', 'temperature', 'topP', 'stopSequences'];
const HAS_SCHEMAS = /claude-sonnet-4-5|openai\.gpt-oss/;

/** Throws what the real service refuses. */
export function complaintOf(ask: BedrockAsk, model: string): void {
  known(ask, TOP);
  known(ask.inferenceConfig ?? {}, INFERENCE);
  const { temperature = 0, maxTokens = 1 } = ask.inferenceConfig ?? {};
  if (temperature > 1) throw new BedrockRefusal('temperature must be at most 1');
  if (maxTokens < 1) throw new BedrockRefusal('maxTokens must be at least 1');
  if (ask.messages[0]?.role !== 'user')
    throw new BedrockRefusal('A conversation must start with a user message.');
  for (const [place, { role, content }] of ask.messages.entries()) {
    if (role === ask.messages[place - 1]?.role)
      throw new BedrockRefusal('A conversation must alternate between user and assistant roles.');
    if (content.length === 0) throw new BedrockRefusal('The content field is empty.');
    for (const block of content) checkBlock(block);
    if (model.includes('mistral.')) for (const block of content) checkMistral(block);
    checkResults(ask, place);
  }
  const last = ask.messages.at(-1);
  if (last?.role === 'assistant' && /\s$/.test(last.content.at(-1)?.text ?? ''))
    throw new BedrockRefusal('final assistant content cannot end with trailing whitespace');
  checkTools(ask, model);
  checkThinking(ask);
  if (ask.outputConfig && !HAS_SCHEMAS.test(model))
    throw new BedrockRefusal('This model does not support structured output.');
}

function known(value: object, names: readonly string[]): void {
  for (const name of Object.keys(value))
    if (!names.includes(name)) throw new BedrockRefusal(`The field ${name} is not recognized.`);
}

function checkBlock(block: BedrockBlock): void {
  if (Object.keys(block).length !== 1) throw new BedrockRefusal('A content block has exactly one member.');
  if (block.text !== undefined && block.text.trim() === '')
    throw new BedrockRefusal('The text field in the ContentBlock object is blank.');
  const id = block.toolUse?.toolUseId ?? block.toolResult?.toolUseId ?? 'ok';
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(id)) throw new BedrockRefusal('toolUseId failed to satisfy constraint');
  if (block.document && !/^[a-zA-Z0-9\s\-()[\]]{1,200}$/.test(block.document.name))
    throw new BedrockRefusal('The document name is not valid.');
  const { bytes } = block.image?.source ?? block.document?.source ?? {};
  if (bytes !== undefined && Buffer.from(bytes, 'base64').toString('base64') !== bytes)
    throw new BedrockRefusal('bytes are no base64');
  const thought = block.reasoningContent?.reasoningText;
  if (thought && thought.signature !== thoughtSignature(thought.text))
    throw new BedrockRefusal('Invalid signature in thinking block');
  for (const inner of block.toolResult?.content ?? []) checkBlock(inner);
}

function checkMistral({ toolUse, toolResult }: BedrockBlock): void {
  const id = toolUse?.toolUseId ?? toolResult?.toolUseId ?? 'abcdef123';
  if (!/^[a-zA-Z0-9]{9}$/.test(id))
    throw new BedrockRefusal('Tool call id has to be defined in 9 letters and digits.');
}

function checkResults({ messages, toolConfig }: BedrockAsk, place: number): void {
  const uses = messages[place - 1]?.content.flatMap(({ toolUse }) => toolUse?.toolUseId ?? []) ?? [];
  const results = messages[place]?.content.flatMap(({ toolResult }) => toolResult?.toolUseId ?? []) ?? [];
  if (uses.toSorted().join() !== results.toSorted().join())
    throw new BedrockRefusal(
      'The number of toolResult blocks does not match the number of toolUse blocks of the previous turn.',
    );
  if (results.length > 0 && !toolConfig)
    throw new BedrockRefusal(
      'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
    );
}

function checkTools({ toolConfig }: BedrockAsk, model: string): void {
  if (!toolConfig) return;
  if (toolConfig.tools.length === 0) throw new BedrockRefusal('toolConfig.tools must have at least 1 item');
  const names = toolConfig.tools.flatMap(({ toolSpec }) => toolSpec?.name ?? []);
  for (const { toolSpec } of toolConfig.tools) {
    if (toolSpec && !/^[a-zA-Z0-9_-]{1,64}$/.test(toolSpec.name))
      throw new BedrockRefusal('toolSpec.name failed to satisfy constraint');
    if (toolSpec && toolSpec.inputSchema.json.type !== 'object')
      throw new BedrockRefusal('inputSchema.json.type must be object');
  }
  const chosen = toolConfig.toolChoice?.tool?.name;
  if (chosen && !names.includes(chosen)) throw new BedrockRefusal('toolChoice names no tool');
  if (model.includes('llama') && (chosen || toolConfig.toolChoice?.any))
    throw new BedrockRefusal("This model doesn't support the toolConfig.toolChoice field.");
}

/** With thinking on, calls come after their thoughts, and nothing may be forced. */
function checkThinking({
  additionalModelRequestFields,
  messages,
  toolConfig,
  inferenceConfig,
}: BedrockAsk): void {
  const { thinking } = additionalModelRequestFields ?? {};
  if (!thinking) return;
  if (inferenceConfig?.temperature !== undefined && inferenceConfig.temperature !== 1)
    throw new BedrockRefusal('`temperature` may only be set to 1 when thinking is enabled.');
  if (thinking.budget_tokens && thinking.budget_tokens >= (inferenceConfig?.maxTokens ?? 0))
    throw new BedrockRefusal('`max_tokens` must be greater than `thinking.budget_tokens`');
  if (toolConfig?.toolChoice?.any || toolConfig?.toolChoice?.tool)
    throw new BedrockRefusal('Thinking may not be enabled when tool_choice forces tool use.');
  const last = messages.findLast(({ role }) => role === 'assistant');
  if (
    last?.content.some(({ toolUse }) => toolUse) &&
    messages.at(-1)?.content.some(({ toolResult }) => toolResult) &&
    !last.content[0]?.reasoningContent
  )
    throw new BedrockRefusal('Expected `thinking` or `redacted_thinking`, but found `tool_use`.');
}
