import { otlpSettings } from '../../../../src/api/sandbox/otlp.ts';
import { fail } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import { implement, type Route } from '../../../http/route.ts';
import { send } from '../../../otlp/sender.ts';
import type { OtlpSettingsService } from './settings.ts';
import { testSpans } from './spans.ts';

/** The operations on where metrics and traces go. */
export function otlpRoutes(app: App, settings: OtlpSettingsService): Route[] {
  return implement(otlpSettings, {
    GetOtlpSettings: ({ caller }) => settings.get(caller.tenant),
    UpdateOtlpSettings: ({ caller, body }) => settings.update(caller, body),
    TestOtlpSettings: async ({ caller, signal }) => {
      const destination = settings.destination(caller.tenant);
      if (!destination)
        throw fail('failed_precondition', { message: 'No endpoint is set: PUT /v1/settings/otlp' });
      const { encodeSpans } = await import('../../../otlp/codec.ts');
      const spans = testSpans(caller.tenant, destination.labels, app.clock.now());
      const {
        kind,
        message,
        rejected = 0,
      } = await send(app.outbound, destination, 'traces', encodeSpans([spans]), signal);
      return { success: kind === 'sent' && rejected === 0, message };
    },
  });
}
