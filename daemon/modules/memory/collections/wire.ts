import { rfc3339 } from '../../../../src/kit/time.ts';
import type { CollectionRow } from '../tables.ts';

/** A collection as the API shows it. */
export function collectionToWire(row: CollectionRow) {
  return {
    id: row.id,
    tenantId: row.tenant,
    name: row.name,
    description: row.description,
    embeddingModel: row.embeddingModel,
    embeddingDimension: row.dimension,
    distanceMetric: row.distance,
    documentCount: row.documentCount,
    metadata: { ...row.metadata },
    createdAt: rfc3339(row.createdAt),
    updatedAt: rfc3339(row.updatedAt),
  };
}
