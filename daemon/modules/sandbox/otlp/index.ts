import type { Sampler } from '../metrics/sampler.ts';
import type { Room, RoomContext } from '../room.ts';
import { OtlpExporter } from './exporter.ts';
import { otlpRoutes } from './routes.ts';
import type { OtlpSettingsService } from './settings.ts';

/** Metrics and traces of sandboxes, sent to the receivers that tenants name. */
export function createOtlpRoom(
  { app, lifecycle, events }: RoomContext,
  sampler: Sampler,
  settings: OtlpSettingsService,
): Room {
  const exporter = new OtlpExporter(app, lifecycle, events, settings);
  sampler.onSamples((samples) => {
    void exporter
      .exportSamples(samples)
      .catch((error) => app.log.error('metrics could not be exported', { error }));
  });
  return {
    routes: otlpRoutes(app, settings),
    figures: [
      {
        name: 'svc_otlp_sent_total',
        help: 'Sandboxes measured and spans that receivers have taken.',
        type: 'counter',
        read: () => exporter.tally.sent,
      },
      {
        name: 'svc_otlp_dropped_total',
        help: 'Sandboxes measured and spans that no receiver has taken.',
        type: 'counter',
        read: () => exporter.tally.dropped,
      },
    ],
    start: () => exporter.start(),
    stop: () => exporter.stop(),
  };
}
