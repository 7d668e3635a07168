import { apiKeys as keysApi } from '../../../src/api/api-keys/keys.ts';
import { implement, type Route } from '../../http/route.ts';
import type { ApiKeys, MadeKey } from './api-keys.ts';
import { readRequired } from './inputs.ts';
import type { KeySnapshot } from './key-snapshot.ts';
import { toApiKey } from './key-wire.ts';
import type { ApiKeyRow } from './tables.ts';

/** The keys that programs call with. */
export function keyRoutes(keys: ApiKeys, snapshot: KeySnapshot): Route[] {
  const shown = (row: ApiKeyRow, secret?: string) => toApiKey(row, snapshot.lastUsedAt(row), secret);
  const made = ({ row, secret }: MadeKey) => ({ apiKey: shown(row, secret), key: secret });
  return implement(keysApi, {
    CreateApiKey: ({ caller, body }) => made(keys.create(caller, body)),
    ListApiKeys: ({ caller, query }) => ({ apiKeys: keys.list(caller, query).map((row) => shown(row)) }),
    GetApiKey: ({ caller, params }) => ({ apiKey: shown(keys.get(caller, params.id)) }),
    UpdateApiKey({ caller, query }) {
      return { apiKey: shown(keys.update(caller, readRequired('id', query.id), query)) };
    },
    RegenerateApiKey: ({ caller, query }) => made(keys.regenerate(caller, readRequired('id', query.id))),
    DeleteApiKey({ caller, params }) {
      keys.delete(caller, params.id);
      return { success: true, message: 'The key was revoked.' };
    },
  });
}
