import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { AgentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { timed } from './kit/quantile.ts';
import { atLeast, digits, type Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const EVENTS = sizeFromEnv('BENCH_EVENTS', 100_000);

/**
 * Puts text into the answer of a session's turn while its daemon is away. Answers how many events a second its rows give to one
 * who only reads them.
 */
export function fill(dataDir: string, sessionId: string): number {
  const db = new Database(join(dataDir, 'svc.db'));
  const of = 'FROM agent_events WHERE session_id = ?';
  try {
    const { end, last } = db
      .query(`SELECT max(seq) AS last, min(seq) FILTER (WHERE type = 'llm.end') AS end ${of}`)
      .get(sessionId) as { end: number; last: number };
    const more = EVENTS - last;
    const move = db.query('UPDATE agent_events SET seq = ? WHERE session_id = ? AND seq = ?');
    const add = db.query(
      "INSERT INTO agent_events (session_id, seq, turn_number, type, fields, created_at) VALUES (?, ?, 1, 'llm.chunk', ?, ?)",
    );
    db.transaction(() => {
      for (let seq = last; seq >= end; seq--) move.run(seq + more, sessionId, seq);
      for (let seq = end; seq < end + more; seq++)
        add.run(sessionId, seq, JSON.stringify({ textDelta: `piece ${seq} of a long answer ` }), Date.now());
    })();
    const begun = performance.now();
    const rows = db.query(`SELECT * ${of} ORDER BY seq`).all(sessionId);
    JSON.stringify(rows);
    return rows.length / ((performance.now() - begun) / 1000);
  } finally {
    db.close();
  }
}

/** Reads all events of a session from the beginning, as somebody does who lost the connection. */
export async function replay(
  report: Report,
  daemon: TestDaemon,
  sessionId: string,
  rowsPerSecond: number,
): Promise<void> {
  const agents = new AgentClient(() => daemon.url, daemon.apiKey);
  let count = 0;
  const ms = await timed(async () => {
    for await (const { id } of agents.stream(sessionId, '', { lastEventId: '0' }))
      if (Number(id) !== ++count) throw new Error(`event ${id} follows ${count - 1}`);
  });
  if (count !== EVENTS) throw new Error(`${count} events came, not ${EVENTS}`);
  const perSecond = count / (ms / 1000);
  report.table({
    title: `${EVENTS} stored events`,
    columns: ['events/s', 'x floor'],
    lines: [
      { what: 'rows of the database as JSON', cells: [digits(rowsPerSecond), '1.00'] },
      {
        what: 'replayed over HTTP, parsed',
        cells: [digits(perSecond), digits(perSecond / rowsPerSecond)],
        goals: [atLeast(perSecond, 20_000, 'a second')],
      },
    ],
  });
}
