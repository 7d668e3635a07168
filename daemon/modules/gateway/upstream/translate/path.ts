import { UpstreamError } from '../error.ts';

/** A model's name as parts of a path. Errors: UpstreamError of kind request for a name that would lead elsewhere. */
export function pathOf(model: string): string {
  return model.split('/').map(segmentOf).join('/');
}

/** A name as one part of a path, slashes and all. Errors as pathOf. */
export function segmentOf(name: string): string {
  if (name === '' || name === '.' || name === '..')
    throw new UpstreamError('request', `There is no model ${JSON.stringify(name)}.`, {
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
  return encodeURIComponent(name.toWellFormed());
}
