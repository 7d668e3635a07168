import { RemoteError } from '../../../src/client/remote-error.ts';

/** The same error, with the command that helps, where there is one. */
export function withNext(error: unknown, agent: string): unknown {
  if (!(error instanceof RemoteError) || error.hint) return error;
  const hint = hintOf(error, agent);
  if (hint === undefined) return error;
  const { http, body, message } = error;
  const known = typeof body === 'object' && body !== null ? body : {};
  const details = 'details' in known && Array.isArray(known.details) ? known.details : [];
  const help = { '@type': 'type.googleapis.com/google.rpc.Help', hint };
  return new RemoteError(http, { ...known, message, details: [help, ...details] });
}

function hintOf({ code, message }: RemoteError, agent: string): string | undefined {
  if (code === 'not_found' && message.includes('agent')) return 'List yours: svc agent list';
  if (code === 'not_found' && message.includes('session')) return 'List yours: svc session list';
  if (code === 'busy')
    return 'Wait in line with --queue, say it to the turn with svc session steer, or end it with svc session interrupt';
  if (code === 'failed_precondition' && /is (completed|cancelled)|has had its/.test(message))
    return `Begin another one: svc session run ${agent} "..."`;
  return undefined;
}
