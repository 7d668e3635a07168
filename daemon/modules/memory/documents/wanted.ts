import { createHash } from 'node:crypto';
import { invalid } from '../../../../src/errors/app-error.ts';
import { LIMITS } from '../limits.ts';
import { checkMetadata } from '../metadata.ts';
import { turn } from '../recall/turn.ts';
import type { Metadata } from '../tables.ts';
import { spansOf } from './chunks.ts';

/** Documents as a caller sends them. */
export interface WantedDocuments {
  readonly documents?: ReadonlyArray<{
    readonly id?: string;
    readonly content?: string;
    readonly metadata?: Metadata;
    readonly source?: string;
  }>;
  readonly chunkSize?: number;
}

/** A document that was checked. */
export interface ReadDocument {
  readonly id: string;
  readonly digest: string;
  readonly content: string;
  readonly metadata: Metadata;
  readonly source: string;
}

const ID = /^[\w.:@/-]{1,128}$/;
const ID_CHARS = 26;
const CHUNKS_A_TURN = 200;

/** The size of chunks that is asked for, in characters. Errors: invalid_argument. */
export function chunkSizeOf({ chunkSize = 0 }: WantedDocuments): number {
  const { smallestChunk, largestChunk, usualChunk } = LIMITS;
  if (chunkSize === 0) return usualChunk;
  if (chunkSize < smallestChunk || chunkSize > largestChunk)
    throw invalid({
      field: 'chunkSize',
      description: `must be ${smallestChunk} to ${largestChunk} characters; ${usualChunk} when absent`,
    });
  return chunkSize;
}

/**
 * Checks documents. One without an id gets one made of what it is, so that the same document has the same id however often it
 * is sent. Errors: invalid_argument naming the field.
 */
export function readDocuments(wanted: WantedDocuments): ReadDocument[] {
  const { documents = [] } = wanted;
  const size = chunkSizeOf(wanted);
  if (documents.length === 0) throw invalid({ field: 'documents', description: 'must not be empty' });
  if (documents.length > LIMITS.documentsACall)
    throw invalid({ field: 'documents', description: `has at most ${LIMITS.documentsACall} in one call` });
  const own = new Set<string>();
  return documents.map((document, i) => {
    const field = `documents.${i}`;
    const { id = '', content = '', metadata = {}, source = '' } = document;
    if (content.trim() === '') throw invalid({ field: `${field}.content`, description: 'must not be empty' });
    if (source.length > LIMITS.sourceLength)
      throw invalid({
        field: `${field}.source`,
        description: `has at most ${LIMITS.sourceLength} characters`,
      });
    if (id !== '' && !ID.test(id))
      throw invalid({
        field: `${field}.id`,
        description: `has 1 to ${LIMITS.idLength} letters, digits and . _ : @ / -`,
      });
    if (id !== '' && own.has(id))
      throw invalid({ field: `${field}.id`, description: 'is there twice in this call' });
    own.add(id);
    checkMetadata(`${field}.metadata`, metadata);
    const digest = digestOf({ content, metadata, source });
    return {
      id: id || `doc_${digest.slice(0, ID_CHARS)}`,
      digest: `${digest}.${size}`,
      content,
      metadata,
      source,
    };
  });
}

/** The chunks of documents. Errors: invalid_argument when they are too many for one call. */
export async function chunksOf(documents: readonly ReadDocument[], size: number): Promise<string[][]> {
  let count = 0;
  const all: string[][] = [];
  for (const { content } of documents) {
    const chunks: string[] = [];
    for (const { start, end } of spansOf(content, size)) {
      chunks.push(content.slice(start, end));
      if (++count > LIMITS.chunksACall)
        throw invalid({
          field: 'documents',
          description: `make more than ${LIMITS.chunksACall} chunks; send fewer in one call, or a larger chunkSize`,
        });
      if (count % CHUNKS_A_TURN === 0) await turn();
    }
    all.push(chunks);
  }
  return all;
}

function digestOf({
  content,
  metadata,
  source,
}: Pick<ReadDocument, 'content' | 'metadata' | 'source'>): string {
  const sorted = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([source, sorted]))
    .update('\n')
    .update(content)
    .digest('hex');
}
