import { attributes, type KeyValue } from '../../../otlp/messages.ts';
import type { Sandbox } from '../tables.ts';

/**
 * What a figure is about (OpenTelemetry semantic conventions, Resource: service and container). The instance id keeps
 * the series of two sandboxes apart in stores that make labels of nothing else.
 */
export function resourceOf(row: Sandbox, labels: Readonly<Record<string, string>>): KeyValue[] {
  return attributes({
    'service.name': 'svc-sandbox',
    ...labels,
    'service.instance.id': row.id,
    'container.id': row.containerId,
    'container.name': row.name || row.id,
    'container.image.name': row.config.image,
    'svc.sandbox.id': row.id,
    'svc.sandbox.name': row.name,
    'svc.sandbox.backend': row.backend,
    'svc.tenant.id': row.tenant,
  });
}
