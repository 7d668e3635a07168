import { type Clock, HOUR_MS } from '../../../../../../src/kit/time.ts';
import type { ProviderAccount } from '../../../../providers/index.ts';
import { UpstreamError } from '../../../upstream/error.ts';

const REMEMBERED_MS = HOUR_MS;
const MOST_REMEMBERED = 1000;

/**
 * Which models of the chat-completions family have Responses of their own. Nobody has to say it: the first request finds out, and a model
 * without them is asked for chat completions right away during the next hour.
 */
export class WhoSpeaksIt {
  private readonly silent = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** Whether a provider may have them for a model. */
  maySpeak(account: ProviderAccount, model: string): boolean {
    return (this.silent.get(nameOf(account, model)) ?? 0) <= this.clock.now();
  }

  /** It has answered otherwise, and does answer chat completions. */
  doesNot(account: ProviderAccount, model: string): void {
    const [oldest] = this.silent.keys();
    if (this.silent.size >= MOST_REMEMBERED && oldest !== undefined) this.silent.delete(oldest);
    this.silent.set(nameOf(account, model), this.clock.now() + REMEMBERED_MS);
  }
}

function nameOf({ baseUrl }: ProviderAccount, model: string): string {
  return `${baseUrl} ${model}`;
}

/** The code of a failure that is an answer of another kind, such as a page. */
export const NOT_THIS_DIALECT = 'not_this_dialect';

/** Whether a failure may mean that there is no such place at the provider. */
export function isNoSuchPlace(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  const { status, code } = error.details;
  return status === 404 || status === 405 || status === 501 || code === NOT_THIS_DIALECT;
}
