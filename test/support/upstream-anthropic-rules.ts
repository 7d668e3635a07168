/** Any JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** What the test upstream reads of a request that it has found right. */
export interface FakeMessagesRequest extends Json {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly FakeTurn[];
  readonly system?: string | readonly Json[];
  readonly stream?: boolean;
  readonly stop_sequences?: readonly string[];
  readonly tools?: ReadonlyArray<{ name: string; type?: string; input_schema?: Json }>;
  readonly tool_choice?: { type: string; name?: string; disable_parallel_tool_use?: boolean };
  readonly thinking?: { type: string; budget_tokens?: number };
  readonly output_config?: { effort?: string; format?: { type: string; schema: Json } };
}

/** One turn, its content always blocks. */
export interface FakeTurn {
  readonly role: string;
  readonly content: readonly FakeBlock[];
}

/** One block of a turn. */
export type FakeBlock = Json & { readonly type: string };

/** What is wrong with a request, in the words of the real service. */
export class Refusal extends Error {}

const FIELDS = [
  'model max_tokens messages system stream stop_sequences tools tool_choice thinking output_config metadata',
  'service_tier temperature top_p top_k cache_control container inference_geo speed diagnostics',
]
  .join(' ')
  .split(' ');
const SAMPLING = ['temperature', 'top_p', 'top_k'];
const NEWEST = '2026-10-21';
const VERSIONS = ['2023-06-01', NEWEST];
const MEDIA = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const BLOCK_FIELDS: Readonly<Record<string, string>> = {
  text: 'text cache_control citations',
  image: 'source cache_control',
  document: 'source cache_control title context citations',
  thinking: 'thinking signature',
  redacted_thinking: 'data',
  tool_use: 'id name input cache_control caller',
  tool_result: 'tool_use_id content is_error cache_control',
  server_tool_use: 'id name input cache_control caller',
  web_search_tool_result: 'tool_use_id content cache_control caller',
};
const ROLES: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'image', 'document', 'tool_result'],
  assistant: [
    'text',
    'thinking',
    'redacted_thinking',
    'tool_use',
    'server_tool_use',
    'web_search_tool_result',
  ],
  system: ['text'],
};
const SCHEMA_LIMITS = ['minimum', 'maximum', 'minLength', 'maxLength', 'maxItems', 'multipleOf'];

/** Reads a request as strictly as the real service, and where that one repairs turns that stand side by side, more so. Errors: Refusal. */
export function readMessagesRequest(body: Json, version: string | null): FakeMessagesRequest {
  if (version === null) throw new Refusal('anthropic-version: header is required');
  if (!VERSIONS.includes(version)) throw new Refusal(`anthropic-version: ${version} is not a valid version`);
  checkFields(body, version);
  const turns = readTurns(body.messages);
  const request = { ...body, messages: turns } as unknown as FakeMessagesRequest;
  checkCalls(turns);
  checkTools(request);
  checkThinking(request);
  checkModel(request);
  checkSchema(request.output_config?.format);
  return request;
}

/** Reads what is to be counted. Errors: Refusal. */
export function readCountRequest(body: Json, version: string | null): FakeMessagesRequest {
  for (const name of ['max_tokens', 'stream', 'metadata']) if (name in body) throw extra(name);
  return readMessagesRequest({ ...body, max_tokens: 65_536 }, version);
}

/** The signature of a thought: whoever changes the thought cannot make it. */
export function signatureOf(thinking: string): string {
  return Buffer.from(new Bun.CryptoHasher('sha256').update(`signed ${thinking}`).digest()).toString('base64');
}

function extra(field: string): Refusal {
  return new Refusal(`${field}: Extra inputs are not permitted`);
}

function checkFields(body: Json, version: string): void {
  for (const name of Object.keys(body))
    if (!FIELDS.includes(name) || (version === NEWEST && SAMPLING.includes(name))) throw extra(name);
  if (typeof body.model !== 'string') throw new Refusal('model: Field required');
  if (!Number.isInteger(body.max_tokens)) throw new Refusal('max_tokens: Field required');
  if (!Array.isArray(body.messages)) throw new Refusal('messages: Field required');
  if (body.messages.length === 0) throw new Refusal('messages: at least one message is required');
  const { temperature } = body;
  if (temperature !== undefined && !(typeof temperature === 'number' && temperature >= 0 && temperature <= 1))
    throw new Refusal('temperature: range: 0..1');
  if (Array.isArray(body.system))
    for (const [i, block] of body.system.entries()) readBlock(block, `system.${i}`, ['text']);
  for (const stop of (body.stop_sequences ?? []) as string[])
    if (stop.trim() === '')
      throw new Refusal('stop_sequences: each stop sequence must contain non-whitespace');
}

function readTurns(given: unknown): FakeTurn[] {
  const turns = (given as Json[]).map((turn, i): FakeTurn => {
    const { role, content } = turn;
    const path = `messages.${i}`;
    for (const name of Object.keys(turn))
      if (name !== 'role' && name !== 'content') throw extra(`${path}.${name}`);
    const allowed = ROLES[String(role)];
    if (!allowed) throw new Refusal(`${path}.role: Input should be 'user', 'assistant' or 'system'`);
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as FakeBlock[]);
    if (!Array.isArray(blocks) || blocks.length === 0)
      throw new Refusal(`${path}: all messages must have non-empty content`);
    return {
      role: String(role),
      content: blocks.map((block, j) => readBlock(block, `${path}.content.${j}`, allowed)),
    };
  });
  turns.forEach(({ role }, i) => {
    if (i === 0 && role !== 'user') throw new Refusal('messages: first message must use the "user" role');
    if (role === turns[i - 1]?.role)
      throw new Refusal(`messages.${i}: roles must alternate, but ${role} comes twice`);
    if (role === 'system' && turns[i - 1]?.role !== 'user')
      throw new Refusal(`messages.${i}: a system message must follow a user message`);
  });
  const last = turns.at(-1)?.content.at(-1);
  if (turns.at(-1)?.role === 'assistant' && String(last?.text ?? '').trimEnd() !== String(last?.text ?? ''))
    throw new Refusal('messages: final assistant content cannot end with trailing whitespace');
  return turns;
}

function readBlock(given: unknown, path: string, allowed: readonly string[]): FakeBlock {
  const block = given as FakeBlock;
  const fields = BLOCK_FIELDS[block?.type];
  if (!fields || !allowed.includes(block.type))
    throw new Refusal(`${path}: Input tag '${block?.type}' is not expected here`);
  for (const name of Object.keys(block))
    if (name !== 'type' && !fields.split(' ').includes(name)) throw extra(`${path}.${block.type}.${name}`);
  if (block.type === 'text' && !block.text)
    throw new Refusal(`${path}: text content blocks must be non-empty`);
  if (block.type === 'image') checkImage(block.source as Json, path);
  if (
    block.type === 'document' &&
    (block.source as Json)?.type === 'base64' &&
    (block.source as Json).media_type !== 'application/pdf'
  )
    throw new Refusal(`${path}.document.source.base64.media_type: Input should be 'application/pdf'`);
  if (block.type === 'thinking' && block.signature !== signatureOf(String(block.thinking)))
    throw new Refusal(`${path}: Invalid \`signature\` in \`thinking\` block`);
  if (block.type === 'tool_use') checkToolUse(block, path);
  if (block.type === 'tool_result' && Array.isArray(block.content))
    for (const [i, inner] of block.content.entries())
      readBlock(inner, `${path}.content.${i}`, ['text', 'image', 'document']);
  return block;
}

function checkImage(source: Json | undefined, path: string): void {
  if (source?.type === 'url' && /^https?:/.test(String(source.url))) return;
  if (source?.type !== 'base64' || !MEDIA.includes(String(source.media_type)))
    throw new Refusal(`${path}.image.source.base64.media_type: Input should be ${MEDIA.join(', ')}`);
  if (!/^[A-Za-z0-9+/]+=*$/.test(String(source.data)))
    throw new Refusal(`${path}.image.source.base64: invalid base64 data`);
}

function checkToolUse({ id, input }: FakeBlock, path: string): void {
  if (!/^[a-zA-Z0-9_-]+$/.test(String(id)))
    throw new Refusal(`${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new Refusal(`${path}.tool_use.input: Input should be a valid dictionary`);
}

/** Every call has its result in the next turn, before anything else there, and every result its call. */
function checkCalls(turns: readonly FakeTurn[]): void {
  turns.forEach(({ content }, i) => {
    const calls = idsOf(turns[i - 1], 'tool_use', 'id');
    const results = content
      .filter(({ type }) => type === 'tool_result')
      .map((block) => String(block.tool_use_id));
    for (const id of results)
      if (!calls.includes(id))
        throw new Refusal(`messages.${i}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`);
    const missing = calls.filter((id) => !results.includes(id));
    if (missing.length > 0)
      throw new Refusal(
        `messages.${i - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing}`,
      );
    if (content.slice(0, results.length).some(({ type }) => type !== 'tool_result'))
      throw new Refusal(`messages.${i}: \`tool_result\` blocks must come first`);
  });
}

function idsOf(turn: FakeTurn | undefined, type: string, field: string): string[] {
  return (turn?.content ?? []).filter((block) => block.type === type).map((block) => String(block[field]));
}

function checkTools({ tools = [], tool_choice: choice }: FakeMessagesRequest): void {
  tools.forEach((tool, i) => {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name))
      throw new Refusal(`tools.${i}.custom.name: String should match pattern`);
    const isCustom = tool.type === undefined || tool.type === 'custom';
    if (isCustom && tool.input_schema?.type !== 'object')
      throw new Refusal(`tools.${i}.custom.input_schema.type: Field required`);
  });
  if (choice && tools.length === 0)
    throw new Refusal('tool_choice: may only be specified while providing tools');
  if (choice?.type === 'tool' && !tools.some(({ name }) => name === choice.name))
    throw new Refusal(`tool_choice: tool '${choice.name}' not found in provided tools`);
}

function checkThinking({
  thinking,
  tool_choice: choice,
  messages,
  max_tokens,
  ...rest
}: FakeMessagesRequest): void {
  if (!thinking || thinking.type === 'disabled') return;
  if (choice?.type === 'any' || choice?.type === 'tool')
    throw new Refusal('thinking: may not be enabled when tool_choice forces tool use');
  if (SAMPLING.some((name) => name in rest))
    throw new Refusal('`temperature` may only be set to 1 when thinking is enabled');
  if (thinking.type !== 'enabled') return;
  if (!(Number(thinking.budget_tokens) >= 1024))
    throw new Refusal('thinking.enabled.budget_tokens: Input should be at least 1024');
  if (Number(thinking.budget_tokens) >= max_tokens)
    throw new Refusal('`max_tokens` must be greater than `thinking.budget_tokens`');
  const last = messages.findLast(({ role }) => role === 'assistant');
  const goesOn = messages.at(-1)?.content.some(({ type }) => type === 'tool_result');
  if (goesOn && !last?.content[0]?.type.endsWith('thinking'))
    throw new Refusal(
      `messages: Expected \`thinking\` or \`redacted_thinking\`, but found \`${last?.content[0]?.type}\``,
    );
}

/** What models refuse, by name. */
function checkModel({
  model,
  thinking,
  tool_choice: choice,
  output_config: output,
  messages,
  ...rest
}: FakeMessagesRequest): void {
  const isNew = /opus-(4-8|5)|sonnet-5|fable/.test(model);
  const isOld = /-4-5|-3-/.test(model);
  for (const name of SAMPLING)
    if (isNew && name in rest) throw new Refusal(`\`${name}\` is deprecated for this model.`);
  if (isNew && thinking?.type === 'enabled')
    throw new Refusal('"thinking.type.enabled" is not supported for this model.');
  if (isOld && thinking?.type === 'adaptive')
    throw new Refusal('adaptive thinking is not supported on this model');
  if (/-3-/.test(model) && thinking) throw new Refusal('thinking is not supported on this model');
  if (/-3-|sonnet-4-5/.test(model) && output?.effort)
    throw new Refusal('output_config.effort: not supported on this model');
  if (/-3-/.test(model) && output?.format)
    throw new Refusal('output_config.format: not supported on this model');
  if (/-4-5/.test(model) && 'temperature' in rest && 'top_p' in rest)
    throw new Refusal('`temperature` and `top_p` cannot both be specified for this model.');
  if (/5-5|fable-5-1/.test(model) && (choice?.type === 'any' || choice?.type === 'tool'))
    throw new Refusal('tool_choice: forced tool use is not supported on this model');
  if (!isNew && messages.some(({ role }) => role === 'system'))
    throw new Refusal("role 'system' is not supported on this model");
}

function checkSchema(format: { type: string; schema: Json } | undefined): void {
  if (!format) return;
  if (format.type !== 'json_schema')
    throw new Refusal('output_config.format.type: Input should be json_schema');
  walk(format.schema);
}

function walk(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  if (Array.isArray(schema)) {
    for (const one of schema) walk(one);
    return;
  }
  const { type, additionalProperties, properties = {}, ...rest } = schema as Json;
  if (type === 'object' && additionalProperties !== false)
    throw new Refusal(
      "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    );
  for (const name of SCHEMA_LIMITS)
    if (name in rest)
      throw new Refusal(
        `output_config.format.schema: For '${type}' type, property '${name}' is not supported`,
      );
  for (const inner of [...Object.values(properties as Json), ...Object.values(rest)]) walk(inner);
}
