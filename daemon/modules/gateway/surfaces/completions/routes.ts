import { completions } from '../../../../../src/api/gateway/completions.ts';
import { implement, type Route } from '../../../../http/route.ts';
import { modelCall } from '../../pipeline/call.ts';
import type { CompletionsSurface } from './surface.ts';

/** Text completions. */
export function completionRoutes(surface: CompletionsSurface): Route[] {
  return implement(completions, {
    CreateCompletion: (call) => surface.complete(modelCall('completions', call, call.body)),
  });
}
