import type { TokenCount } from '../../metrics/metrics.ts';
import type { ChatRequest } from './provider.ts';
import type { ListedModel, Router } from './router.ts';

/** Where token counts go. */
export interface TokenMeter {
  tokens(count: TokenCount): void;
}

/** The gateway: sends a call to the provider of its model. */
export class GatewayService {
  constructor(
    private readonly router: Router,
    private readonly meter: TokenMeter | undefined,
  ) {}

  /** Every model that calls may name. */
  models(): Promise<ListedModel[]> {
    return this.router.list();
  }

  /** One model. Errors: model_not_found. */
  model(id: string): Promise<ListedModel> {
    return this.router.get(id);
  }

  /**
   * Answers a chat completion in the dialect of stock clients, whole or as a stream.
   * Errors: model_not_found, upstream_failed, upstream_timeout, rate_limited, cancelled.
   */
  async complete(request: ChatRequest, signal: AbortSignal): Promise<Response> {
    const { provider, id } = await this.router.route(request.model);
    return provider.complete(
      { ...request, model: id },
      {
        signal,
        used: (usage) => this.meter?.tokens({ provider: provider.name, model: id, ...usage }),
      },
    );
  }
}
