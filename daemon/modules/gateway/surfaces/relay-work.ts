import type { SurfaceWork } from '../pipeline/pipeline.ts';
import type { JsonSurface, RawAnswer, RelayRequest } from '../upstream/adapter.ts';
import { UpstreamError } from '../upstream/error.ts';

/** The work of a surface that providers offer as it is. */
export function relayWork<R extends RelayRequest>(surface: JsonSurface): SurfaceWork<R, RawAnswer> {
  return {
    can: ({ adapter }) => adapter.relay?.[surface] !== undefined,
    async send(request, adapter, upstream) {
      const send = adapter.relay?.[surface];
      if (!send) throw new UpstreamError('request', `This provider has no ${surface.replaceAll('_', ' ')}.`);
      return send(request, upstream);
    },
  };
}
