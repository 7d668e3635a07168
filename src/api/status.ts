import { model, t } from './schema.ts';

/** A detail of an error: its type URL, and the fields of that type. */
export const Detail = t.Object(
  { '@type': t.String() },
  { $id: 'Any', additionalProperties: true, description: 'A google.rpc detail, named by its type URL.' },
);

/** The error body of every operation, and of an error inside a stream (spec, Errors). */
export const RpcStatus = model('rpcStatus', {
  code: t.Integer({ format: 'int32', description: 'The google.rpc.Code.' }),
  message: t.String(),
  details: t.Array(Detail),
});
