import type { Upstream } from '../adapter.ts';
import { UpstreamError } from '../error.ts';

/** Whether a Content-Type is JSON's, or of a kind of JSON. */
export function isJson(type: string): boolean {
  return /^application\/([\w.+-]+\+)?json\b/.test(type);
}

/** The error of an answer that cannot come from this family: a page, for one. */
export function notThisDialect({ account }: Upstream, got: string): UpstreamError {
  const hint = `Check the address of the provider: svc provider show ${account.name}`;
  return new UpstreamError(
    'server',
    `The provider ${account.name} answered with ${got || 'no content type'}. ${hint}`,
  );
}
