import { rfc3339 } from '../../../../src/kit/time.ts';
import type { CronRow, RunRow, WebhookRow } from './tables.ts';

/** What a command is told about the run that it is: environment variables, never text of the command. */
export function environmentOf(
  run: RunRow,
  { name }: Pick<CronRow | WebhookRow, 'name'>,
): Record<string, string> {
  const headers = Object.entries(run.headers).map(([header, value]) => [variableOf(header), value]);
  return {
    ...Object.fromEntries(headers),
    SVC_TRIGGER_TYPE: run.type,
    SVC_TRIGGER_ID: String(run.triggerId),
    SVC_TRIGGER_NAME: name,
    SVC_TRIGGER_RUN: String(run.id),
    SVC_TRIGGER_TIME: rfc3339(run.scheduledAt ?? run.createdAt),
    ...(run.type === 'webhook' ? { SVC_TRIGGER_METHOD: run.method } : {}),
    ...(run.deliveryId === null ? {} : { SVC_TRIGGER_DELIVERY: run.deliveryId }),
  };
}

/** `x-github-event` is told as SVC_TRIGGER_HEADER_X_GITHUB_EVENT. */
function variableOf(header: string): string {
  return `SVC_TRIGGER_HEADER_${header.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
}
