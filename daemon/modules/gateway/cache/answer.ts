import type { Usage } from '../wire/usage.ts';
import type { RequestKey } from './request-key.ts';

/** An answer as it is kept. */
export interface KeptAnswer {
  readonly contentType: string;
  readonly body: string;
  /** `provider/model` that gave it. */
  readonly model: string;
  readonly usage?: Usage;
  /** Unix times in milliseconds. */
  readonly keptAt: number;
  readonly expiresAt: number;
}

/** How much is kept for a tenant; undefined where that is not known. */
export interface Holdings {
  readonly entries: number | undefined;
  readonly bytes: number | undefined;
}

/** A place for answers. Every method takes the tenant first; none lets one tenant see what another has. */
export interface AnswerStore {
  /** The answer to exactly this request that is still good. Never fails: what cannot be read is not there. */
  find(tenant: string, key: RequestKey): KeptAnswer | undefined | Promise<KeptAnswer | undefined>;
  /** Keeps an answer, soon and as far as there is room. Never fails. */
  keep(tenant: string, key: RequestKey, answer: KeptAnswer): void;
  /** Forgets everything of a tenant. Answers how many answers that were. Errors: unavailable when that cannot be done now. */
  clear(tenant: string): number | Promise<number>;
  holdings(tenant: string): Holdings;
}

const OVERHEAD_BYTES = 400;

/** What an answer takes, about, in bytes. */
export function sizeOf({ body }: KeptAnswer): number {
  return body.length + OVERHEAD_BYTES;
}
