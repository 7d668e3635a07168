import type { ProviderAccount } from '../../../../providers/index.ts';
import type { RelayRequest } from '../../../upstream/adapter.ts';
import { kindOf } from '../chat/conversation.ts';
import { isSealed } from '../chat/sealed.ts';
import type { Item, ResponseRequest } from '../wire.ts';

const SEALED_REASONING = 'reasoning.encrypted_content';
/** Items that a vendor takes without an id; with one it looks for them among what it has kept. */
const NAMELESS: ReadonlySet<string> = new Set(['message', 'function_call', 'function_call_output']);

/**
 * The request for a vendor of this dialect. It gets the whole conversation and keeps nothing, so that any of its keys, and any other provider,
 * can go on from here. What it needs back of its own reasoning is asked for sealed.
 */
export function nativeRequestOf(
  request: ResponseRequest,
  items: readonly Item[],
  account: ProviderAccount,
  madeBy: ReadonlyMap<string, string>,
): RelayRequest {
  const { previous_response_id: _, background: __, include, ...rest } = request;
  const input = items.flatMap((item) => itemFor(item, account.name, madeBy) ?? []);
  const wished = sealsReasoning(request, account)
    ? [...new Set([...(include ?? []), SEALED_REASONING])]
    : include;
  return { ...rest, input, store: false, ...(wished == null ? {} : { include: wished }) };
}

function itemFor(item: Item, provider: string, madeBy: ReadonlyMap<string, string>): Item | undefined {
  const kind = kindOf(item);
  const { id, status, ...rest } = withoutNulls(item);
  if (NAMELESS.has(kind)) return { ...rest, type: kind };
  const maker = typeof id === 'string' ? madeBy.get(id) : undefined;
  if (maker !== undefined && maker !== provider) return undefined;
  if (kind === 'reasoning' && (!item.encrypted_content || isSealed(item.encrypted_content))) return undefined;
  return kind === 'reasoning' ? { ...rest, id } : { ...rest, id, ...(status ? { status } : {}) };
}

function withoutNulls(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null));
}

/** Only asked of models that are told how to think: others refuse the wish. */
function sealsReasoning({ reasoning }: ResponseRequest, { name, dialect }: ProviderAccount): boolean {
  return reasoning != null && (name === 'openai' || dialect === 'azure');
}
