import type { GeminiAsk, GeminiAskPart } from './upstream-gemini-answer.ts';
import { signatureOf } from './upstream-gemini-answer.ts';

/** Why a request is refused with INVALID_ARGUMENT. */
export class GeminiRefusal extends Error {}

const TOP = [
  'contents',
  'tools',
  'toolConfig',
  'safetySettings',
  'systemInstruction',
  'generationConfig',
  'cachedContent',
];
const CONFIG = [
  'temperature',
  'topP',
  'topK',
  'maxOutputTokens',
  'stopSequences',
  'candidateCount',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'responseLogprobs',
  'logprobs',
  'responseMimeType',
  'responseJsonSchema',
  'responseSchema',
  'responseModalities',
  'thinkingConfig',
];
const PART = [
  'text',
  'thought',
  'thoughtSignature',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
];
const FOREIGN = 'skip_thought_signature_validator';

/** Throws what the real API refuses: unknown names, empty parts, results without calls, lost or misplaced signatures. */
export function complaintOf(ask: GeminiAsk, model: string): void {
  known(ask, TOP, '');
  known(ask.generationConfig ?? {}, CONFIG, 'generation_config');
  if (ask.contents.length === 0) throw new GeminiRefusal('contents is not specified');
  for (const [place, content] of ask.contents.entries()) {
    if (content.role !== 'user' && content.role !== 'model')
      throw new GeminiRefusal('Please use a valid role: user, model.');
    if (content.parts.length === 0) throw new GeminiRefusal('contents.parts must not be empty.');
    for (const part of content.parts) checkPart(part);
    checkResults(ask, place);
    if (model.startsWith('gemini-3')) checkSignatures(content.parts, place);
  }
  checkTools(ask);
  const { responseJsonSchema, responseMimeType } = ask.generationConfig ?? {};
  if (responseJsonSchema && responseMimeType !== 'application/json')
    throw new GeminiRefusal('a schema needs application/json');
  if (responseJsonSchema) checkSchema(responseJsonSchema);
}

function known(value: object, names: readonly string[], at: string): void {
  for (const name of Object.keys(value))
    if (!names.includes(name))
      throw new GeminiRefusal(
        `Invalid JSON payload received. Unknown name "${name}" at '${at}': Cannot find field.`,
      );
}

function checkPart(part: GeminiAskPart): void {
  known(part, PART, 'contents.parts');
  const kinds = Object.keys(part).filter((name) => name !== 'thought' && name !== 'thoughtSignature');
  if (kinds.length !== 1)
    throw new GeminiRefusal('a part must have exactly one initialized field in oneof data');
  if (part.text === '' && !part.thoughtSignature) throw new GeminiRefusal('a text part must not be empty');
  if (
    part.inlineData &&
    Buffer.from(part.inlineData.data, 'base64').toString('base64') !== part.inlineData.data
  )
    throw new GeminiRefusal('Base64 decoding failed');
  const { functionResponse } = part;
  if (
    functionResponse &&
    (typeof functionResponse.response !== 'object' || Array.isArray(functionResponse.response))
  )
    throw new GeminiRefusal('functionResponse.response must be a Struct');
}

/** A turn of calls is followed by a turn with as many results, of the same names in order. */
function checkResults({ contents }: GeminiAsk, place: number): void {
  const results = contents[place]?.parts.flatMap(({ functionResponse }) => functionResponse ?? []) ?? [];
  const calls = contents[place - 1]?.parts.flatMap(({ functionCall }) => functionCall ?? []) ?? [];
  if (results.length === 0 && calls.length === 0) return;
  if (results.map(({ name }) => name).join() !== calls.map(({ name }) => name).join())
    throw new GeminiRefusal(
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    );
  if (results.map(({ id }) => id).join() !== calls.map(({ id }) => id).join())
    throw new GeminiRefusal('ids of results are not those of calls');
}

function checkSignatures(parts: readonly GeminiAskPart[], place: number): void {
  const first = parts.find(({ functionCall }) => functionCall);
  if (first && !first.thoughtSignature)
    throw new GeminiRefusal(`Function call in the ${place}. content block is missing a thought_signature.`);
  for (const part of parts)
    if (
      part.thoughtSignature &&
      part.thoughtSignature !== FOREIGN &&
      part.thoughtSignature !== signatureOf(part)
    )
      throw new GeminiRefusal('Corrupted thought signature.');
}

function checkTools({ tools = [], toolConfig }: GeminiAsk): void {
  const declared = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  for (const { name, parametersJsonSchema } of declared) {
    if (!/^[a-zA-Z_][\w.:-]{0,63}$/.test(name)) throw new GeminiRefusal('Invalid function name.');
    if (parametersJsonSchema) checkSchema(parametersJsonSchema);
  }
  const { mode, allowedFunctionNames: names } = toolConfig?.functionCallingConfig ?? {};
  if (names && mode !== 'ANY' && mode !== 'VALIDATED')
    throw new GeminiRefusal('allowed_function_names should only be set with ANY or VALIDATED');
  if (names?.some((name) => !declared.some((tool) => tool.name === name)))
    throw new GeminiRefusal('allowed_function_names has an unknown name');
}

function checkSchema(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const keys = Object.keys(schema);
  if ('$ref' in schema && keys.some((key) => !key.startsWith('$')))
    throw new GeminiRefusal('$ref with other fields');
  if ('$schema' in schema || 'const' in schema || 'allOf' in schema)
    throw new GeminiRefusal('a word of the schema is not supported');
  for (const value of Object.values(schema)) checkSchema(value);
}
