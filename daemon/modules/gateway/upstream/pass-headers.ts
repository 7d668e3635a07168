const PASSED =
  /^(content-type|content-encoding|retry-after|retry-after-ms|openai-(?!organization|project).+|x-ratelimit-.+|anthropic-ratelimit-.+)$/;

/**
 * The headers of an upstream's answer that the caller gets. Its request id goes on as `x-upstream-request-id`,
 * because `x-request-id` names the caller's own request. Whose account pays is not the business of other tenants that use it.
 */
export function passHeaders(upstream: Headers): Headers {
  const headers = new Headers();
  for (const [name, value] of upstream) if (PASSED.test(name)) headers.set(name, value);
  const requestId = upstream.get('x-request-id') ?? upstream.get('request-id');
  if (requestId) headers.set('x-upstream-request-id', requestId);
  return headers;
}
