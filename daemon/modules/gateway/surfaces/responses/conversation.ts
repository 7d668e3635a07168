import { AppError, fail, invalid } from '../../../../../src/errors/app-error.ts';
import { itemsOf, keptItem } from './items.ts';
import type { Link, ResponseStore } from './store.ts';
import { type Item, isOver, type ResponseRequest } from './wire.ts';

/** Most responses of a chain. */
const MOST_LINKS = 500;
/** Most characters of a conversation that is put together. */
const MOST_CHARS = 64 * 1024 * 1024;

/** Most items that an input refers to. */
const MOST_REFERENCES = 1000;

/** A request with its whole conversation. */
export interface Conversation {
  /** What earlier responses went on from and said, and then what is new. */
  readonly items: readonly Item[];
  /** What is new, as it is kept. */
  readonly own: readonly Item[];
  /** Which provider has made items of earlier responses, by their ids. */
  readonly madeBy: ReadonlyMap<string, string>;
  /** The earlier responses. */
  readonly chain: readonly string[];
}

/**
 * Puts the conversation of a request together. Errors: previous_response_not_found, failed_precondition while the previous one is still made,
 * invalid_argument for a chain that is too long and for references that lead nowhere.
 */
export function conversationOf(
  store: ResponseStore,
  tenant: string,
  request: ResponseRequest,
  now: number,
): Conversation {
  const madeBy = new Map<string, string>();
  const previous = request.previous_response_id;
  const chain = previous == null ? [] : chainOf(store, tenant, previous);
  const earlier = chain.flatMap(({ id, provider }) => {
    const items = store.itemsOf(tenant, id);
    for (const item of items) if (item.id) madeBy.set(item.id, provider);
    return items;
  });
  const given = resolved(store, tenant, itemsOf(request.input), madeBy);
  return {
    items: [...earlier, ...given],
    own: given.map((item) => keptItem(item, now)),
    madeBy,
    chain: chain.map(({ id }) => id),
  };
}

function chainOf(store: ResponseStore, tenant: string, id: string): Link[] {
  const chain = store.chain(tenant, id, MOST_LINKS + 1);
  const [first] = chain;
  const last = chain.at(-1);
  if (!first || !last) throw missing(id);
  if (chain.length > MOST_LINKS) throw tooLong(`at most ${MOST_LINKS} responses may go on from each other`);
  if (first.previousId !== null) throw missing(first.previousId);
  if (!isOver(last.status))
    throw fail('failed_precondition', {
      message: `The response ${id} is ${last.status}. Go on from it when it is over.`,
    });
  const size = chain.reduce((sum, link) => sum + link.size, 0);
  if (size > MOST_CHARS)
    throw tooLong(`its conversation has ${size} characters; at most ${MOST_CHARS} are put together`);
  return chain;
}

function missing(id: string): AppError {
  const said = { param: 'previous_response_id' };
  return new AppError('previous_response_not_found', { id, said }, [
    { field: 'previous_response_id', description: 'there is no such response' },
  ]);
}

function tooLong(description: string): AppError {
  return invalid({ field: 'previous_response_id', description });
}

/** References in an input give way to the items that they mean. */
function resolved(
  store: ResponseStore,
  tenant: string,
  items: readonly Item[],
  madeBy: Map<string, string>,
): Item[] {
  const ids = items.flatMap((item) => (isReference(item) ? [item.id ?? ''] : []));
  if (ids.length === 0) return [...items];
  const wanted = [...new Set(ids)];
  if (wanted.length > MOST_REFERENCES)
    throw invalid({ field: 'input', description: `refers to at most ${MOST_REFERENCES} items` });
  const found = new Map(store.items(tenant, wanted).map((one) => [one.item.id, one]));
  return items.map((item, i) => {
    if (!isReference(item)) return item;
    const known = found.get(item.id);
    if (!known) throw invalid({ field: `input.${i}.id`, description: `there is no item ${item.id ?? ''}` });
    madeBy.set(item.id ?? '', known.provider);
    return known.item;
  });
}

/** Stock clients may leave the type of a reference out. */
function isReference({ type, id, role, ...rest }: Item): boolean {
  if (type === 'item_reference') return true;
  return type === undefined && role === undefined && id !== undefined && Object.keys(rest).length === 0;
}
