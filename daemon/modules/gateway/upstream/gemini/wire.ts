/** The dialect of generateContent, as far as it is used here (Gemini API reference: GenerateContent, Content, Part). */
export interface GeminiPart {
  text?: string;
  /** The text is a summary of the model's thoughts. */
  thought?: boolean;
  thoughtSignature?: string;
  inlineData?: { mimeType: string; data: string };
  fileData?: { fileUri: string; mimeType?: string };
  functionCall?: { id?: string; name: string; args?: Record<string, unknown> };
  functionResponse?: { id?: string; name: string; response: Record<string, unknown> };
}

/** One turn. */
export interface GeminiContent {
  role: 'user' | 'model';
  parts: GeminiPart[];
}

/** What generateContent takes. */
export interface GeminiRequest {
  contents: GeminiContent[];
  systemInstruction?: { parts: GeminiPart[] };
  tools?: Record<string, unknown>[];
  toolConfig?: { functionCallingConfig: { mode: string; allowedFunctionNames?: string[] } };
  generationConfig?: Record<string, unknown>;
  safetySettings?: unknown;
  cachedContent?: unknown;
}

/** One answer to the prompt. */
export interface GeminiCandidate {
  readonly index?: number;
  readonly content?: { readonly parts?: readonly GeminiPart[] };
  readonly finishReason?: string;
  readonly finishMessage?: string;
  readonly logprobsResult?: GeminiLogprobs;
  readonly groundingMetadata?: GeminiGrounding;
}

/** The likelihood of each token and of others in its place. */
export interface GeminiLogprobs {
  readonly chosenCandidates?: readonly GeminiToken[];
  readonly topCandidates?: readonly { readonly candidates?: readonly GeminiToken[] }[];
}

/** A token and its likelihood. */
export interface GeminiToken {
  readonly token?: string;
  readonly logProbability?: number;
}

/** Pages that a search has found, and which bytes of the text stand on them. */
export interface GeminiGrounding {
  readonly groundingChunks?: readonly { readonly web?: { readonly uri?: string; readonly title?: string } }[];
  readonly groundingSupports?: readonly {
    readonly segment?: { readonly startIndex?: number; readonly endIndex?: number };
    readonly groundingChunkIndices?: readonly number[];
  }[];
}

/** Token counts; those of thoughts and of tool results stand beside the others. */
export interface GeminiUsage {
  readonly promptTokenCount?: number;
  readonly toolUsePromptTokenCount?: number;
  readonly cachedContentTokenCount?: number;
  readonly candidatesTokenCount?: number;
  readonly thoughtsTokenCount?: number;
}

/** An answer, or one event of it. */
export interface GeminiResponse {
  readonly responseId?: string;
  readonly modelVersion?: string;
  readonly candidates?: readonly GeminiCandidate[];
  readonly promptFeedback?: { readonly blockReason?: string; readonly blockReasonMessage?: string };
  readonly usageMetadata?: GeminiUsage;
  readonly error?: GeminiError;
}

/** google.rpc.Status as JSON. */
export interface GeminiError {
  readonly code?: number;
  readonly message?: string;
  readonly status?: string;
  readonly details?: readonly Readonly<Record<string, unknown>>[];
}
