import { MINUTE_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import { placeFieldsOf } from '../block.ts';
import { readBaseUrl, resolvePlace } from '../place.ts';
import type { InstanceProviders } from './instance-providers.ts';

const NAME = 'ollama';
const ANSWER_MS = 300;
const DEFAULT_PORT = 11_434;

/** The address that OLLAMA_HOST names: `host`, `host:port`, `:port` or a URL; that of the usual port when absent. */
export function ollamaAddress(host: string | undefined): string {
  const text = host?.replace(/^["']|["']$/g, '') || '127.0.0.1';
  const full = /^https?:\/\//.test(text)
    ? text
    : `http://${text.startsWith(':') ? `127.0.0.1${text}` : text}`;
  const url = readBaseUrl(full, 'OLLAMA_HOST');
  const hasPort = /^https?:\/\/[^/]*:\d+(\/|$)/.test(full);
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  if (!hasPort && url.protocol === 'http:') url.port = String(DEFAULT_PORT);
  return url.href.replace(/\/+$/, '');
}

/** Looks for a local Ollama: now, and every minute until there is one. Says nothing while there is none. */
export class OllamaFinder {
  private timer: Timer | undefined;
  private readonly stopped = new AbortController();

  constructor(
    private readonly app: Pick<App, 'outbound' | 'log'>,
    private readonly address: string,
    private readonly found: (baseUrl: string) => void,
  ) {}

  start(): void {
    this.timer = setInterval(() => void this.look(), MINUTE_MS);
    this.timer.unref();
    void this.look();
  }

  stop(): void {
    clearInterval(this.timer);
    this.stopped.abort();
  }

  private async look(): Promise<void> {
    if (!(await this.answers()) || this.stopped.signal.aborted) return;
    clearInterval(this.timer);
    this.app.log.info('ollama was found', { url: this.address });
    this.found(`${this.address}/v1`);
  }

  private async answers(): Promise<boolean> {
    try {
      const response = await this.app.outbound.fetch({
        url: `${this.address}/api/tags`,
        signal: AbortSignal.any([this.stopped.signal, AbortSignal.timeout(ANSWER_MS)]),
        trust: 'operator',
        field: 'OLLAMA_HOST',
      });
      await response.body?.cancel();
      return response.ok && (response.headers.get('content-type') ?? '').startsWith('application/json');
    } catch {
      return false;
    }
  }
}

/** The search for a local Ollama that joins the instance's providers; undefined when one is configured. */
export function findOllama(
  app: Pick<App, 'config' | 'outbound' | 'log'>,
  instance: InstanceProviders,
): OllamaFinder | undefined {
  if (instance.find(NAME)) return undefined;
  try {
    return new OllamaFinder(app, ollamaAddress(app.config.variable('OLLAMA_HOST')), (baseUrl) => {
      const said = { name: NAME, dialect: '', baseUrl, settings: {} };
      const place = resolvePlace(said, placeFieldsOf(NAME));
      instance.add({ name: NAME, origin: 'found', place, said, models: [], keys: [] });
    });
  } catch (error) {
    app.log.warn('OLLAMA_HOST cannot be read, so that no Ollama is looked for', { error });
    return undefined;
  }
}
