import { endpoint, type Group } from '../endpoint.ts';
import { ids, object, open, t } from '../schema.ts';

/** A model that calls may name. */
export const CompatModel = open('Model', {
  id: t.String(),
  object: t.Literal('model'),
  created: t.Integer({ description: 'Unix time in seconds.' }),
  owned_by: t.String({ description: 'The provider.' }),
});

const here = { spec: 'extra', tag: 'Models' } as const;

/** The models that calls may name, in the wire format of stock clients. */
export const compatModels = {
  ListCompatModels: endpoint({
    ...here,
    id: 'ListCompatModels',
    method: 'GET',
    path: '/compat/v1/models',
    summary: 'List the models that calls may name',
    response: object('ModelList', { object: t.Literal('list'), data: t.Array(CompatModel) }),
    access: 'viewer',
  }),
  GetCompatModel: endpoint({
    ...here,
    id: 'GetCompatModel',
    method: 'GET',
    path: '/compat/v1/models/{model}',
    summary: 'Get a model',
    params: ids('model'),
    response: CompatModel,
    access: 'viewer',
  }),
} satisfies Group;
