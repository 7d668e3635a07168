import type { ProviderAccount, ProviderKey } from '../../../providers/index.ts';
import { segmentOf } from '../translate/path.ts';

/** What a call of the chat-completions family needs besides its body. */
interface Target {
  readonly account: ProviderAccount;
  readonly key: ProviderKey | undefined;
}

/**
 * The path of an operation under the account's base URL. Azure has the family's paths under `/openai/v1`, and with the
 * setting `api_version` its older ones by deployment, whose name is the model's unless `deployment.<model>` says another.
 */
export function pathOf(operation: string, { account }: Target, model?: string): string {
  const { dialect, settings } = account;
  const version = settings.api_version;
  if (dialect !== 'azure' || !version) return operation;
  const place =
    model === undefined ? '' : `/deployments/${segmentOf(settings[`deployment.${model}`] ?? model)}`;
  return `${place}${operation}?api-version=${encodeURIComponent(version)}`;
}

/** The headers of a call, its credential among them. */
export function headersOf({ account, key }: Target, contentType?: string): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json, text/event-stream' };
  if (contentType !== undefined) headers['content-type'] = contentType;
  if (account.settings.organization) headers['openai-organization'] = account.settings.organization;
  if (account.settings.project) headers['openai-project'] = account.settings.project;
  if (!key || key.secret === '') return headers;
  if (account.dialect === 'azure') headers['api-key'] = key.secret;
  else headers.authorization = `Bearer ${key.secret}`;
  return headers;
}
