import { createHash } from 'node:crypto';
import { backwards, valueFor } from './fake-provider.ts';

/** A part of a request. */
export interface GeminiAskPart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  inlineData?: { mimeType: string; data: string };
  fileData?: { mimeType?: string; fileUri: string };
  functionCall?: { id?: string; name: string; args: unknown };
  functionResponse?: { id?: string; name: string; response: unknown };
}

/** What is read of a request. */
export interface GeminiAsk {
  contents: { role: string; parts: GeminiAskPart[] }[];
  systemInstruction?: { parts: GeminiAskPart[] };
  tools?: { functionDeclarations?: { name: string; parametersJsonSchema?: unknown }[] }[];
  toolConfig?: { functionCallingConfig: { mode: string; allowedFunctionNames?: string[] } };
  generationConfig?: {
    candidateCount?: number;
    maxOutputTokens?: number;
    responseMimeType?: string;
    responseJsonSchema?: unknown;
    responseLogprobs?: boolean;
    thinkingConfig?: { includeThoughts?: boolean };
  };
  cachedContent?: string;
}

/** A candidate of an answer. */
interface Candidate {
  index: number;
  content: { role: 'model'; parts: GeminiAskPart[] };
  finishReason: string;
  logprobsResult?: object;
}

/** An answer, whole or an event of it. */
export interface GeminiAnswer {
  responseId: string;
  modelVersion: string;
  candidates?: Partial<Candidate>[];
  promptFeedback?: object;
  usageMetadata?: object;
}

/** The signature of a part, which only fits that very part. */
export function signatureOf({ text, functionCall }: GeminiAskPart): string {
  const meant = functionCall ? [functionCall.name, functionCall.args] : text;
  return createHash('sha256').update(JSON.stringify(meant)).digest('base64');
}

/** A vector that depends on every character of a text. */
export function vectorOf(text: string, size: number): number[] {
  const hash = createHash('sha256').update(text).digest();
  return Array.from({ length: size }, (_, place) => (hash[place % 32] ?? 0) / 256);
}

/** The whole answer to a request. */
export function answerGemini(ask: GeminiAsk, model: string): GeminiAnswer {
  const head = {
    responseId: `resp-${createHash('md5').update(JSON.stringify(ask)).digest('hex').slice(0, 8)}`,
    modelVersion: `${model}-001`,
  };
  const words = countWords(JSON.stringify(ask.contents));
  if (model.includes('blocked-prompt'))
    return {
      ...head,
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: words, totalTokenCount: words },
    };
  const count = ask.generationConfig?.candidateCount ?? 1;
  const candidates = Array.from({ length: count }, (_, index) => candidateOf(ask, model, index));
  const said = candidates.flatMap(({ content }) => content.parts);
  const tokens = (parts: GeminiAskPart[]) =>
    countWords(parts.map((part) => part.text ?? JSON.stringify(part.functionCall)).join(' '));
  const usageMetadata = {
    promptTokenCount: words,
    candidatesTokenCount: tokens(said.filter(({ thought }) => !thought)),
    thoughtsTokenCount: tokens(said.filter(({ thought }) => thought)) || undefined,
    cachedContentTokenCount: ask.cachedContent ? 2 : undefined,
  };
  return { ...head, candidates, usageMetadata };
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

function candidateOf(ask: GeminiAsk, model: string, index: number): Candidate {
  const thoughts = ask.generationConfig?.thinkingConfig?.includeThoughts
    ? [{ text: `I turn ${askedText(ask).length} letters. `, thought: true }]
    : [];
  const answer = model.includes('malformed-call') ? [] : partsFor(ask, model, index);
  const parts = [...thoughts, ...answer];
  const finishReason = model.includes('blocked-answer')
    ? 'SAFETY'
    : model.includes('malformed-call')
      ? 'MALFORMED_FUNCTION_CALL'
      : 'STOP';
  const text = answer.map((part) => part.text ?? '').join('');
  const logprobsResult = ask.generationConfig?.responseLogprobs ? { logprobsResult: logprobs(text) } : {};
  return { index, content: { role: 'model', parts }, finishReason, ...logprobsResult };
}

function logprobs(text: string): object {
  const chosen = text.match(/\S+\s*/g)?.map((token) => ({ token, logProbability: -token.length / 10 })) ?? [];
  return { chosenCandidates: chosen, topCandidates: chosen.map((token) => ({ candidates: [token] })) };
}

function askedText({ contents }: GeminiAsk): string {
  const last = contents.findLast(({ role, parts }) => role === 'user' && parts.some(({ text }) => text));
  return last?.parts.map(({ text }) => text ?? '').join(' ') ?? '';
}

function partsFor(ask: GeminiAsk, model: string, index: number): GeminiAskPart[] {
  const last = ask.contents.at(-1);
  const results = last?.parts.flatMap(({ functionResponse }) => functionResponse ?? []) ?? [];
  const signs = model.startsWith('gemini-3');
  if (results.length > 0)
    return [
      { text: results.map(({ name, response }) => `${name} gave ${JSON.stringify(response)}`).join('; ') },
    ];
  const { mode, allowedFunctionNames } = ask.toolConfig?.functionCallingConfig ?? {};
  const declared = (ask.tools ?? []).flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  const called =
    mode === 'NONE' ? [] : declared.filter(({ name }) => allowedFunctionNames?.includes(name) ?? true);
  const said = backwards(askedText(ask)).join(' ');
  if (called.length > 0) return called.map((tool, place) => callOf(tool.name, { text: said }, place, signs));
  if (ask.generationConfig?.responseMimeType === 'application/json')
    return [
      { text: JSON.stringify(valueFor(ask.generationConfig.responseJsonSchema ?? { type: 'object' }, said)) },
    ];
  const system = ask.systemInstruction?.parts.map(({ text }) => text).join(' ');
  const media = (last?.parts ?? []).flatMap(({ inlineData, fileData }) => {
    if (inlineData) return [`${inlineData.mimeType}:${Buffer.from(inlineData.data, 'base64').length}`];
    return fileData ? [`${fileData.mimeType}:${fileData.fileUri}`] : [];
  });
  const text = [...(index > 0 ? [`#${index}`] : []), said, ...(system ? [`(${system})`] : []), ...media].join(
    ' ',
  );
  return signs ? [signed({ text })] : [{ text }];
}

/** Of parallel calls only the first is signed; ids are given by the newer models. */
function callOf(name: string, args: object, place: number, signs: boolean): GeminiAskPart {
  const functionCall = { ...(signs ? { id: `own-${name}-${place}` } : {}), name, args };
  return signs && place === 0 ? signed({ functionCall }) : { functionCall };
}

function signed(part: GeminiAskPart): GeminiAskPart {
  return { ...part, thoughtSignature: signatureOf(part) };
}

/** The same answer as events: a word or a call each, its end and the counts in the last one. A signed text ends with an empty part. */
export function eventsOf(whole: GeminiAnswer, _ask: GeminiAsk, model: string): object[] {
  const { candidates = [], usageMetadata, ...head } = whole;
  if (candidates.length === 0) return [whole];
  const events: object[] = [];
  for (const { index, content, finishReason, logprobsResult } of candidates) {
    for (const part of (content?.parts ?? []).flatMap(piecesOf))
      events.push({ ...head, candidates: [{ index, content: { role: 'model', parts: [part] } }] });
    events.push({
      ...head,
      candidates: [{ index, content: { role: 'model', parts: [] }, finishReason, logprobsResult }],
      usageMetadata,
    });
  }
  if (!model.includes('throttled-midstream')) return events;
  const error = { code: 429, message: 'Resource has been exhausted.', status: 'RESOURCE_EXHAUSTED' };
  return [...events.slice(0, 2), { error }];
}

function piecesOf(part: GeminiAskPart): GeminiAskPart[] {
  if (part.text === undefined) return [part];
  const words = part.text.match(/\S+\s*/g) ?? [];
  const pieces = words.map((text) => ({ text, ...(part.thought ? { thought: true } : {}) }));
  return part.thoughtSignature ? [...pieces, signed({ text: '' })] : pieces;
}
