import { fail } from '../../src/errors/app-error.ts';
import type { Caller } from './route.ts';

/**
 * Holds a request to its own tenant: a `tenantId` that it names may only be the caller's.
 * Errors: not_found, the same as for a tenant that does not exist.
 */
export function ownTenant(caller: Caller, ...named: readonly unknown[]): void {
  const foreign = named.find((id) => typeof id === 'string' && id !== '' && id !== caller.tenant);
  if (foreign !== undefined && caller.tenant !== '')
    throw fail('not_found', { what: 'tenant', id: String(foreign) });
}
