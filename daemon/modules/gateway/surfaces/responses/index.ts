import { HOUR_MS } from '../../../../../src/kit/time.ts';
import type { App } from '../../../../app.ts';
import type { Route } from '../../../../http/route.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import { Answering } from './answering.ts';
import { Background } from './background.ts';
import { Foreground } from './foreground.ts';
import { Keeping } from './keeping.ts';
import { WhoSpeaksIt } from './native/who-speaks-it.ts';
import { responseRoutes } from './routes.ts';
import { Sending } from './sending.ts';
import { ResponseService } from './service.ts';
import { ResponseStore } from './store.ts';

/** What this room needs of the instance. */
export type ResponsesApp = Pick<App, 'config' | 'db' | 'clock' | 'log' | 'jobs'>;

/** The room of responses. */
export interface Responses {
  readonly routes: readonly Route[];
  /** Takes up what the last process has left. */
  start(): void;
  /** Ends what is made in the background. */
  stop(): Promise<void>;
}

const PRUNED_AT_ONCE = 200;

/** Responses over a pipeline: made by any provider, kept here. */
export function createResponses(
  { config, db, clock, log, jobs }: ResponsesApp,
  pipeline: Pipeline,
): Responses {
  const store = new ResponseStore(db);
  const keeping = new Keeping(store, log);
  const answering = new Answering(pipeline);
  const sending = new Sending(new WhoSpeaksIt(clock), clock);
  const foreground = new Foreground(pipeline, sending, answering, store, clock);
  const most = () => config.get('gateway.background_responses');
  const background = new Background({ store, keeping, foreground, clock, most });
  jobs.every('responses.prune', HOUR_MS, () =>
    prune(store, clock.now() - config.get('gateway.responses_ttl')),
  );
  return {
    routes: responseRoutes(new ResponseService({ store, keeping, foreground, answering, background, clock })),
    start: () => background.recover(),
    async stop() {
      await background.stop();
      keeping.flush();
    },
  };
}

/** Others get their turn between two batches. */
async function prune(store: ResponseStore, before: number): Promise<void> {
  while (store.prune(before, PRUNED_AT_ONCE) === PRUNED_AT_ONCE) await Bun.sleep(0);
}
