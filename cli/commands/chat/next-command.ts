import { RemoteError } from '../../../src/client/remote-error.ts';
import { nextCommand } from '../model/next-command.ts';

/** Errors that have to do with a model or its provider. */
const MODELS: ReadonlySet<string> = new Set([
  'model_not_found',
  'not_offered',
  'upstream_failed',
  'upstream_timeout',
  'upstream_down',
  'upstream_rejected',
  'unavailable',
]);

/** The same error, with the command that helps. */
export function withNext(error: unknown, model: string): unknown {
  if (!(error instanceof RemoteError) || !MODELS.has(error.code)) return error;
  const { http, body, code, message } = error;
  const near = error.hint?.startsWith('Did you mean') ? `${error.hint} ` : '';
  const hint = `${near}Next: ${nextCommand(code, message, model)}`;
  const known = typeof body === 'object' && body !== null ? body : {};
  const details = 'details' in known && Array.isArray(known.details) ? known.details : [];
  const help = { '@type': 'type.googleapis.com/google.rpc.Help', hint };
  return new RemoteError(http, { ...known, message, details: [help, ...details] });
}
