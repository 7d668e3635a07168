import { invalid } from '../../../src/errors/app-error.ts';
import { catalogEntry } from './catalog/catalog.ts';

const NAME = /^[a-z0-9][a-z0-9_.-]{0,63}$/;
/** Names that are addresses of other operations, or stand for no provider. */
const RESERVED = new Set([
  'catalog',
  'configured',
  'config-yaml',
  'reload',
  'sync-status',
  'api-keys',
  'route',
]);

/** Refuses what cannot be the name of a provider that somebody sets up. Errors: invalid_argument naming the field. */
export function checkName(name: string, field: string): void {
  if (catalogEntry(name)?.dialect === 'local')
    throw invalid({ field, description: 'this name belongs to the provider of local/echo' });
  if (RESERVED.has(name)) throw invalid({ field, description: 'this name is taken' });
  if (!NAME.test(name))
    throw invalid({
      field,
      description: 'a name has up to 64 lower-case letters, digits, dots, dashes and underscores',
    });
}
