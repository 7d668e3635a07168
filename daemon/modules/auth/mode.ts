import { fail } from '../../../src/errors/app-error.ts';
import type { Config } from '../../config/config.ts';

/** Errors: failed_precondition when people sign in through an identity provider here. */
export function requireSelfHosted(config: Config): void {
  if (config.get('auth.mode') === 'self_hosted') return;
  throw fail('failed_precondition', {
    message: 'People sign in here through an identity provider (auth.mode is cloud); see GetAuthURL.',
  });
}

/** Errors: failed_precondition when the instance keeps the accounts itself. */
export function requireCloud(config: Config): void {
  if (config.get('auth.mode') === 'cloud') return;
  throw fail('failed_precondition', {
    message:
      'This instance keeps its accounts itself (auth.mode is self_hosted); sign in by password or link.',
  });
}
