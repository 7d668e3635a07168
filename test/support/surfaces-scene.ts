import { join } from 'node:path';
import OpenAI from 'openai';
import { startDaemon, type TestDaemon } from './daemon.ts';
import { type FakeProvider, startFake } from './fake-provider.ts';
import { SURFACES_KEY, type SurfacesSeen } from './upstream-surfaces.ts';

/** A daemon whose providers are the fake of the surfaces, and a stock client for it. */
export interface SurfacesScene {
  readonly daemon: TestDaemon;
  readonly client: OpenAI;
  /** The address of the fake. */
  readonly upstream: string;
  seen(): Promise<SurfacesSeen>;
  /** A POST of JSON with the key of the native API; answers the status, the body and the headers. */
  post(path: string, body: unknown): Promise<{ status: number; body: unknown; headers: Headers }>;
  stop(): Promise<void>;
}

/** Starts them. */
export async function startSurfaces(): Promise<SurfacesScene> {
  const upstream: FakeProvider = await startFake(join(import.meta.dir, 'upstream-surfaces.ts'));
  const key = { api_key: SURFACES_KEY };
  const providers = {
    openai: { base_url: `${upstream.origin}/v1`, ...key },
    voyage: { base_url: `${upstream.origin}/voyage/v1`, ...key },
    jina: { base_url: `${upstream.origin}/jina/v1`, ...key },
  };
  const daemon = await startDaemon({ env: { SVC_PROVIDERS: JSON.stringify(providers) } });
  return {
    daemon,
    client: new OpenAI({ baseURL: `${daemon.url}/compat/v1`, apiKey: daemon.apiKey, maxRetries: 0 }),
    upstream: upstream.origin,
    seen: async () => (await upstream.seen()) as unknown as SurfacesSeen,
    async post(path, body) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${daemon.apiKey}` };
      const init = { method: 'POST', body: JSON.stringify(body) };
      const response = await daemon.fetch(path, {
        ...init,
        headers: path.startsWith('/compat') ? headers : { 'content-type': 'application/json' },
      });
      return { status: response.status, body: await response.json(), headers: response.headers };
    },
    async stop() {
      await daemon.stop();
      await upstream.stop();
    },
  };
}
