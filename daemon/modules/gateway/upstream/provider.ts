import { AppError, fail } from '../../../../src/errors/app-error.ts';
import { MINUTE_MS, SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { ChatContext, ChatRequest, ModelInfo, Provider } from '../provider.ts';
import type { ProviderSettings } from '../provider-settings.ts';
import { eventBytes, SSE_HEADERS } from '../sse.ts';
import { failedAnswer } from './failure.ts';
import { passHeaders } from './headers.ts';
import { ModelList, readModels } from './model-list.ts';
import { relay } from './relay.ts';
import { usageInEvents, usageInText } from './usage.ts';

/** How long a model may think before and between bytes. */
const SILENCE_MS = 10 * MINUTE_MS;
const LIST_TIMEOUT_MS = 3 * SECOND_MS;

/** A provider that speaks the dialect of stock clients itself: bytes pass, only the model's name is rewritten. */
export class UpstreamProvider implements Provider {
  readonly name: string;
  readonly closed: boolean;
  private readonly configured: readonly ModelInfo[] | undefined;
  private readonly list: ModelList;

  constructor(
    private readonly settings: ProviderSettings,
    private readonly app: Pick<App, 'outbound' | 'log' | 'clock'>,
  ) {
    this.name = settings.name;
    this.closed = settings.models !== undefined;
    this.configured = settings.models?.map((id) => ({ id, created: 0 }));
    this.list = new ModelList(
      () => this.fetchModels(),
      (error) => app.log.warn('the models of a provider could not be listed', { provider: this.name, error }),
      () => app.clock.now(),
    );
  }

  async models(): Promise<readonly ModelInfo[]> {
    return this.configured ?? this.list.get();
  }

  async complete(request: ChatRequest, context: ChatContext): Promise<Response> {
    const response = await this.send('/chat/completions', {
      method: 'POST',
      body: JSON.stringify(request),
      signal: context.signal,
    });
    if (!response.ok) return failedAnswer(response, this.settings);
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream')) return this.stream(response, context);
    if (/^application\/([\w.+-]+\+)?json\b/.test(type)) return this.whole(response, context);
    await response.body?.cancel();
    throw this.failed(`answered with ${type || 'no content type'}. Check providers.${this.name}.base_url`);
  }

  private stream(response: Response, context: ChatContext): Response {
    const headers = passHeaders(response.headers);
    for (const [name, value] of Object.entries(SSE_HEADERS)) headers.set(name, value);
    if (!response.body) return new Response(null, { headers });
    const body = relay(response.body, {
      ended: (tail) => this.count(usageInEvents(new TextDecoder().decode(tail)), context),
      failed: (error) => (context.signal.aborted ? undefined : this.brokenOff(error)),
    });
    return new Response(body, { headers });
  }

  private async whole(response: Response, context: ChatContext): Promise<Response> {
    const bytes = await response.bytes().catch((error: unknown) => {
      throw context.signal.aborted ? fail('cancelled') : this.broken(error);
    });
    this.count(usageInText(new TextDecoder().decode(bytes)), context);
    return new Response(bytes, { headers: passHeaders(response.headers) });
  }

  private count(usage: Parameters<ChatContext['used']>[0] | undefined, context: ChatContext): void {
    if (usage) context.used(usage);
  }

  /** The event that stands for the rest of a stream that broke off. */
  private brokenOff(cause: unknown): Uint8Array {
    const { message, code } = this.broken(cause);
    const error = { message, type: 'api_error', param: null, code };
    return Buffer.concat([Buffer.from('\n\n'), eventBytes(JSON.stringify({ error }))]);
  }

  private broken(cause: unknown): AppError {
    if (cause instanceof Error && cause.name === 'TimeoutError')
      return fail('upstream_timeout', { message: `The provider ${this.name} fell silent.` });
    return this.failed('closed the connection before its answer was complete');
  }

  private failed(what: string): AppError {
    return fail('upstream_failed', { message: `The provider ${this.name} ${what}.` });
  }

  private async fetchModels(): Promise<readonly ModelInfo[]> {
    const response = await this.send('/models', { signal: AbortSignal.timeout(LIST_TIMEOUT_MS) });
    if (response.ok) return readModels(await response.json());
    await response.body?.cancel();
    throw this.failed(`answered ${response.status}`);
  }

  private async send(path: string, init: { method?: string; body?: string; signal: AbortSignal }) {
    const { apiKey, baseUrl } = this.settings;
    const headers = {
      accept: 'application/json, text/event-stream',
      ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
    };
    try {
      const request = { ...init, url: baseUrl + path, headers, idleTimeoutMs: SILENCE_MS };
      return await this.app.outbound.fetch({
        ...request,
        trust: 'operator',
        field: `providers.${this.name}.base_url`,
      });
    } catch (error) {
      throw this.named(error);
    }
  }

  /** A failed call, with the provider's name. That its address may not be called is no fault of the caller. */
  private named(error: unknown): unknown {
    if (!(error instanceof AppError) || error.code === 'cancelled') return error;
    const code = error.code === 'upstream_timeout' ? 'upstream_timeout' : 'upstream_failed';
    return fail(code, { message: `The provider ${this.name} does not answer: ${error.message}` });
  }
}
