import type { Input } from '../../../../../src/api/endpoint.ts';
import type { rerank } from '../../../../../src/api/gateway/rerank.ts';
import { type FieldViolation, invalid } from '../../../../../src/errors/app-error.ts';

/** A wish for an order, as adapters get it: the native request, its documents always as texts and never empty. */
export interface RerankRequest extends Readonly<Record<string, unknown>> {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  readonly topN?: number;
  readonly returnDocuments?: boolean;
  readonly maxTokensPerDoc?: number;
}

/** The most documents of one request. */
const MOST_DOCUMENTS = 10_000;

/** Reads a native request. Errors: invalid_argument naming each wrong field. */
export function rerankRequest(body: Input<typeof rerank.Rerank>['body']): RerankRequest {
  const { model, query, documents = [], documentObjects = [], topN, returnDocuments, maxTokensPerDoc } = body;
  const texts = documents.length > 0 ? documents : documentObjects.map(({ text }) => text ?? '');
  const [first, ...more] = violations(body, texts);
  if (first) throw invalid(first, ...more);
  return {
    model: model ?? '',
    query: query ?? '',
    documents: texts,
    ...(topN === undefined ? {} : { topN }),
    ...(returnDocuments === undefined ? {} : { returnDocuments }),
    ...(maxTokensPerDoc === undefined ? {} : { maxTokensPerDoc }),
  };
}

function violations(body: Input<typeof rerank.Rerank>['body'], texts: readonly string[]): FieldViolation[] {
  const { model, query, documents = [], documentObjects = [], maxTokensPerDoc } = body;
  const found: FieldViolation[] = [];
  const check = (holds: boolean, field: string, description: string) => {
    if (!holds) found.push({ field, description });
  };
  check(!!model, 'model', 'is required; without a provider take local/bm25');
  check(!!query?.trim(), 'query', 'is required');
  check(
    documents.length === 0 || documentObjects.length === 0,
    'documentObjects',
    'cannot stand beside documents',
  );
  check(texts.length > 0, 'documents', 'must hold at least one document');
  check(texts.length <= MOST_DOCUMENTS, 'documents', `must hold at most ${MOST_DOCUMENTS} documents`);
  for (const [index, { text }] of documentObjects.entries())
    check(text !== undefined, `documentObjects.${index}.text`, 'is required');
  check(maxTokensPerDoc === undefined || maxTokensPerDoc > 0, 'maxTokensPerDoc', 'must be at least 1');
  return found.slice(0, 20);
}
