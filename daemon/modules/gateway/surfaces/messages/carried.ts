import { parseNested } from '../../../../../src/kit/nesting.ts';
import type { MessagesBlock, MessagesRequest } from '../../wire/messages.ts';

/**
 * What a chat completion says to be given back unchanged (`provider_content`) travels through the Messages dialect where that one
 * has room for what nobody reads: the signature of a thought, or the data of a hidden one.
 */
const MARK = 'svc1.';

/** `provider_content` as a signature. */
export function carry(items: readonly unknown[]): string {
  return MARK + Buffer.from(JSON.stringify(items)).toString('base64url');
}

/** What a signature carries; undefined when it is not one of these. */
export function carried(signature: string | undefined): unknown[] | undefined {
  if (!signature?.startsWith(MARK)) return undefined;
  try {
    const items: unknown = parseNested(Buffer.from(signature.slice(MARK.length), 'base64url').toString());
    return Array.isArray(items) ? items : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The request without the thoughts of other providers, whose signatures the provider of this dialect refuses. The very same request
 * when there are none.
 */
export function withoutOthersThoughts<R extends Pick<MessagesRequest, 'messages'>>(request: R): R {
  if (!request.messages.some(({ content }) => typeof content !== 'string' && content.some(isOthers)))
    return request;
  const messages = request.messages.flatMap((turn) => {
    if (typeof turn.content === 'string') return [turn];
    const content = turn.content.filter((block) => !isOthers(block));
    return content.length > 0 ? [{ ...turn, content }] : [];
  });
  return { ...request, messages };
}

function isOthers({ type, signature, data }: MessagesBlock): boolean {
  if (type === 'thinking') return !signature || signature.startsWith(MARK);
  return type === 'redacted_thinking' && data !== undefined && data.startsWith(MARK);
}
