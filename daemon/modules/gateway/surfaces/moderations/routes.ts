import { moderations } from '../../../../../src/api/gateway/moderations.ts';
import { implement, type Route } from '../../../../http/route.ts';
import { modelCall } from '../../pipeline/call.ts';
import { DEFAULT_MODERATION_MODEL, type ModerationsSurface } from './surface.ts';

/** Moderation. */
export function moderationRoutes(surface: ModerationsSurface): Route[] {
  return implement(moderations, {
    Moderation: (call) => {
      const { model = DEFAULT_MODERATION_MODEL, ...rest } = call.body;
      return surface.create(modelCall('moderations', call, { ...rest, model }));
    },
  });
}
