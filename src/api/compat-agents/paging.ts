import { fields, nullable, object, oneOf, type TSchema, t } from '../schema.ts';

/** Query fields of every list: the id to go on after, the size of a page, and the order in time. */
export const cursor = {
  after: t.String(),
  limit: t.Integer({ minimum: 1, maximum: 100 }),
  order: oneOf('asc', 'desc'),
};

/** The query of a list that has no filter. */
export const cursorQuery = fields(cursor);

/** One page of a list, newest first unless asked otherwise. */
export function page<const S extends TSchema>(name: string, item: S) {
  return object(name, {
    object: t.Literal('list'),
    data: t.Array(item),
    first_id: nullable(t.String()),
    last_id: nullable(t.String()),
    has_more: t.Boolean(),
  });
}
