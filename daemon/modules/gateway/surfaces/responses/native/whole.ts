import type { RawAnswer, Upstream } from '../../../upstream/adapter.ts';
import { UpstreamError } from '../../../upstream/error.ts';
import { isObject, parsed } from '../../../upstream/translate/content.ts';
import type { Made } from '../making.ts';
import { usageOfResponse } from '../usage.ts';
import type { ResponseObject } from '../wire.ts';
import { asOurs } from './own-fields.ts';

/** A vendor's response that came whole. Errors: UpstreamError when it is none. */
export function wholeOf({ headers, body }: RawAnswer, { account }: Upstream, base: ResponseObject): Made {
  const response = typeof body === 'string' ? parsed(body) : undefined;
  if (!isObject(response) || !Array.isArray(response.output))
    throw new UpstreamError('server', `The provider ${account.name} answered with no response.`);
  const ours = asOurs(response as ResponseObject, base);
  return { headers, response: ours, usage: usageOfResponse(ours) };
}
