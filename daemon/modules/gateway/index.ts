import type { App, Module } from '../../app.ts';
import { createEchoProvider } from './echo/provider.ts';
import { readProviders } from './provider-settings.ts';
import { Router } from './router.ts';
import { gatewayRoutes } from './routes.ts';
import { GatewayService, type TokenMeter } from './service.ts';
import { UpstreamProvider } from './upstream/provider.ts';

/**
 * The gateway, with the providers of the configuration and `local`. Errors: invalid_argument naming a setting.
 */
export function createGatewayModule(
  app: Pick<App, 'config' | 'outbound' | 'log' | 'clock'>,
  meter?: TokenMeter,
): Module {
  const upstreams = readProviders(app.config).map((settings) => new UpstreamProvider(settings, app));
  const router = new Router([...upstreams, createEchoProvider(app.clock)]);
  return {
    name: 'gateway',
    routes: gatewayRoutes(new GatewayService(router, meter)),
    /** Asks for the lists of models ahead of the first call; nothing waits for them. */
    async start() {
      void router.list();
    },
  };
}
