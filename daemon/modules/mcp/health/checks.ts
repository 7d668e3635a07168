import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Connections } from '../connection/connections.ts';
import { serverFailure } from '../connection/failure.ts';
import type { ServerService } from '../servers/service.ts';
import type { Checked, ServerStore } from '../servers/store.ts';
import { withoutSecrets } from '../servers/without-secrets.ts';
import type { ServerRow } from '../tables.ts';

const MOST_MS = 5 * SECOND_MS;
const AT_ONCE = 16;

/** Asks the servers that are enabled, again and again, whether they are there (spec, MCP, outbound). */
export class HealthChecks {
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  private isStopped = false;

  constructor(
    private readonly app: Pick<App, 'clock' | 'log' | 'config'>,
    private readonly store: ServerStore,
    private readonly servers: ServerService,
    private readonly connections: Connections,
  ) {}

  start(): void {
    this.timer = setInterval(() => {
      // A round that takes long is not joined by another.
      this.running ??= this.round().finally(() => {
        this.running = undefined;
      });
    }, this.app.config.get('mcp.health_interval'));
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.isStopped = true;
  }

  /** Asks all of them once and notes what they said. */
  async round(): Promise<void> {
    try {
      const waiting = this.store.enabled();
      const checks: Checked[] = [];
      const work = async () => {
        for (let row = waiting.pop(); row; row = waiting.pop()) checks.push(await this.check(row));
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      if (!this.isStopped) this.store.note(checks);
    } catch (error) {
      this.app.log.warn('tool servers could not be checked', { error });
    }
  }

  /** A program that does not run is not started for this: nobody knows how it is. */
  private async check(row: ServerRow): Promise<Checked> {
    const { tenant, id } = row;
    const checked = (health: Checked['health'], healthError: string | null): Checked => ({
      ...{ tenant, id, health, healthError },
      healthCheckedAt: this.app.clock.now(),
    });
    const late = Promise.withResolvers<string>();
    const timer = setTimeout(() => late.resolve(`No answer within ${MOST_MS / SECOND_MS} s.`), MOST_MS);
    try {
      const target = this.servers.targetOf(row, this.servers.open(row));
      if (target.config.stdio && !this.connections.has(target)) return checked('unknown', null);
      const ping = this.connections
        .use(target, (connection) => connection.ping(MOST_MS), { isCheck: true })
        .then(
          () => null,
          (error: unknown) => {
            // Whatever lies between may have forgotten this connection: the next one begins anew.
            this.connections.endUnused(id);
            return withoutSecrets(serverFailure(error).message, target.config);
          },
        );
      const failure = await Promise.race([ping, late.promise]);
      return checked(failure === null ? 'healthy' : 'unhealthy', failure);
    } catch (error) {
      return checked('unhealthy', serverFailure(error).message);
    } finally {
      clearTimeout(timer);
    }
  }
}
