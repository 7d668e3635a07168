import { invalid } from '../../../src/errors/app-error.ts';
import { LIMITS } from './limits.ts';
import type { Metadata } from './tables.ts';

/** Checks a flat map of texts. Errors: invalid_argument naming what is too much. */
export function checkMetadata(field: string, metadata: Metadata): Metadata {
  const { metadataNames, metadataNameLength, metadataValueLength } = LIMITS;
  const all = Object.entries(metadata);
  if (all.length > metadataNames) throw invalid({ field, description: `has at most ${metadataNames} names` });
  for (const [name, value] of all) {
    if (name === '' || name.length > metadataNameLength)
      throw invalid({ field, description: `names have 1 to ${metadataNameLength} characters` });
    if (value.length > metadataValueLength)
      throw invalid({
        field: `${field}.${name}`,
        description: `has at most ${metadataValueLength} characters`,
      });
  }
  return metadata;
}
