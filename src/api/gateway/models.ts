import { endpoint, type Group } from '../endpoint.ts';
import { ids, object, open, t } from '../schema.ts';

/** What a model costs. */
const ModelPricing = open(
  'ModelPricing',
  {},
  {
    input_per_million: t.Number({ description: 'US dollars for a million tokens of prompts.' }),
    output_per_million: t.Number({ description: 'US dollars for a million tokens of answers.' }),
  },
);

/** A model that calls may name; with what is known of it. */
export const CompatModel = open(
  'Model',
  {
    id: t.String(),
    object: t.Literal('model'),
    created: t.Integer({ description: 'Unix time in seconds.' }),
    owned_by: t.String({ description: 'The provider.' }),
  },
  {
    context_window: t.Integer({ description: 'Tokens of prompt and answer together.' }),
    pricing: ModelPricing,
  },
);

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
