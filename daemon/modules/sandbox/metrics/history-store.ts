import type { Database as Sqlite } from 'bun:sqlite';
import type { TelemetrySchema } from '../../../db/telemetry.ts';
import type { Usage } from './service.ts';

/** The points of the last hours: one row a sandbox and sample. Times are milliseconds, sizes bytes. */
export const POINT_SCHEMA: TelemetrySchema = {
  version: 1,
  sql: `CREATE TABLE sandbox_points (
    tenant TEXT NOT NULL,
    sandbox_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    cpu_percent REAL NOT NULL,
    memory_bytes INTEGER NOT NULL,
    memory_limit_bytes INTEGER NOT NULL,
    memory_percent REAL NOT NULL,
    network_rx_bytes INTEGER NOT NULL,
    network_tx_bytes INTEGER NOT NULL,
    block_read_bytes INTEGER NOT NULL,
    block_write_bytes INTEGER NOT NULL,
    pids INTEGER NOT NULL,
    PRIMARY KEY (sandbox_id, at)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sandbox_points_at ON sandbox_points (at);`,
};

/** What a sandbox used at one time, as it is kept. */
export type Point = Omit<Usage, 'cpuUsageUs'>;

const COLUMNS = {
  at: 'at',
  cpuPercent: 'cpu_percent',
  memoryBytes: 'memory_bytes',
  memoryLimitBytes: 'memory_limit_bytes',
  memoryPercent: 'memory_percent',
  networkRxBytes: 'network_rx_bytes',
  networkTxBytes: 'network_tx_bytes',
  blockReadBytes: 'block_read_bytes',
  blockWriteBytes: 'block_write_bytes',
  pids: 'pids',
} as const satisfies Record<keyof Point, string>;

const NAMES = Object.keys(COLUMNS) as Array<keyof Point>;

/** Reads and writes points in the telemetry file. */
export class PointStore {
  private readonly write;
  private readonly read;
  private readonly forget;

  constructor(private readonly sqlite: Sqlite) {
    const columns = NAMES.map((name) => COLUMNS[name]);
    const places = [...NAMES, 'tenant', 'sandboxId'].map((name) => `$${name}`);
    this.write = sqlite.query(
      `INSERT OR REPLACE INTO sandbox_points (${columns.join(', ')}, tenant, sandbox_id) VALUES (${places.join(', ')})`,
    );
    this.read = sqlite.query<Point, [string, string, number, number]>(
      `SELECT ${NAMES.map((name) => `${COLUMNS[name]} AS ${name}`).join(', ')} FROM sandbox_points
       WHERE tenant = ? AND sandbox_id = ? AND at BETWEEN ? AND ? ORDER BY at`,
    );
    this.forget = sqlite.query('DELETE FROM sandbox_points WHERE at < ?');
  }

  /** Keeps the points of one sample and forgets those from before a time, in one transaction. */
  add(
    points: ReadonlyArray<{ readonly tenant: string; readonly sandboxId: string; readonly point: Point }>,
    forgetBefore: number,
  ): void {
    this.sqlite.transaction(() => {
      for (const { tenant, sandboxId, point } of points)
        this.write.run({
          tenant,
          sandboxId,
          ...Object.fromEntries(NAMES.map((name) => [name, point[name]])),
        });
      this.forget.run(forgetBefore);
    })();
  }

  /** The points of a sandbox between two times, both included, oldest first. */
  list(tenant: string, sandboxId: string, from: number, to: number): Point[] {
    return this.read.all(tenant, sandboxId, from, to);
  }

  close(): void {
    this.sqlite.close();
  }
}
