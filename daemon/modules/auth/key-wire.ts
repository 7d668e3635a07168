import type { ApiKey } from '../../../src/api/api-keys/keys.ts';
import type { Static } from '../../../src/api/schema.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { rfc3339 } from '../../../src/kit/time.ts';
import type { ApiKeyRow } from './tables.ts';

const TYPES = { root: 'API_KEY_TYPE_ORG', org: 'API_KEY_TYPE_ORG', user: 'API_KEY_TYPE_USER' } as const;

/** What may be shown of a key: its beginning and its last four characters. */
export function maskedKey(key: string): string {
  return `${key.startsWith('s_') ? 's_' : ''}…${key.slice(-4)}`;
}

/**
 * A key as it stands on the wire. `secret` is the key itself, for the one answer that shows it; any other
 * answer has the masked form in that place.
 */
export function toApiKey(row: ApiKeyRow, lastUsedAt: number | null, secret?: string): Static<typeof ApiKey> {
  return {
    id: row.id,
    name: row.name,
    hash: row.hash,
    userId: row.userId ?? '',
    orgId: row.tenant,
    type: TYPES[row.type],
    sensitiveId: secret ?? row.masked,
    lastUsedAt: rfc3339(lastUsedAt),
    createdAt: rfc3339(row.createdAt),
    updatedAt: rfc3339(row.updatedAt),
  };
}

/** The type of a key from the wire; undefined when none is named. Errors: invalid_argument. */
export function fromWireType(text: string | undefined): 'org' | 'user' | undefined {
  if (text === undefined || text === '' || text === 'API_KEY_TYPE_UNSPECIFIED') return undefined;
  if (text === TYPES.org) return 'org';
  if (text === TYPES.user) return 'user';
  throw invalid({ field: 'type', description: `must be ${TYPES.org} or ${TYPES.user}` });
}
