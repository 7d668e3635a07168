import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { systemClock } from '../../../../src/kit/time.ts';
import { openTestApp } from '../../../testing/app.ts';
import { newSession } from '../sessions/new-session.ts';
import { SessionStore } from '../sessions/store.ts';
import { testAgent } from '../testing/rooms.ts';
import { eventWire, type StoredEvent } from './event.ts';
import { followEvents } from './follow.ts';
import { EventLog } from './log.ts';
import { EventStore } from './store.ts';

function scene() {
  const { db } = openTestApp(systemClock, {});
  const session = newSession(testAgent(), {}, 1);
  new SessionStore(db).insert(session);
  const log = new EventLog(db, new EventStore(db), systemClock);
  return { log, id: session.id };
}

const append = (log: EventLog, id: string, count: number) =>
  log.commit(() => {
    for (let i = 0; i < count; i++) log.append(id, 1, { type: 'llm.start' });
  });

describe('events', () => {
  test('are numbered from 1 without a gap, text before what follows it', () => {
    const { log, id } = scene();
    log.text(id, 1, 'Hel');
    log.text(id, 1, 'lo');
    log.commit(() => log.append(id, 1, { type: 'llm.end', finishReason: 'stop' }));
    expect(log.store.after(id, 0, 10).map(eventWire)).toEqual([
      { type: 'llm.chunk', sessionId: id, turnNumber: 1, textDelta: 'Hello' },
      { type: 'llm.end', sessionId: id, turnNumber: 1, finishReason: 'stop' },
    ]);
  });

  test('are told after their commit, and not at all when it fails', () => {
    const { log, id } = scene();
    const told: number[] = [];
    log.watch(id, (events) => told.push(...events.map(({ seq }) => seq)));
    expect(() =>
      log.commit(() => {
        log.append(id, 1, { type: 'llm.start' });
        throw new Error('no');
      }),
    ).toThrow('no');
    expect([told, log.store.latest(id)]).toEqual([[], 0]);
    append(log, id, 2);
    expect(told).toEqual([1, 2]);
  });

  test('of one commit inside another are told once, with it', () => {
    const { log, id } = scene();
    const told: number[][] = [];
    log.watch(id, (events) => told.push(events.map(({ seq }) => seq)));
    log.commit(() => {
      log.append(id, 1, { type: 'llm.start' });
      log.commit(() => log.append(id, 1, { type: 'llm.end' }));
    });
    expect(told).toEqual([[1, 2]]);
  });
});

describe('a reader', () => {
  test('gets each event once and in order, however slowly it reads and wherever it goes on from', async () => {
    const steps = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant('pause' as const)), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 0, max: 20 }), fc.boolean(), async (work, after, slow) => {
        const { log, id } = scene();
        append(log, id, after);
        const stop = new AbortController();
        const seen: number[] = [];
        const reading = (async () => {
          const followed = { sessionId: id, after, signal: stop.signal };
          for await (const { seq } of followEvents(log, followed)) {
            seen.push(seq);
            if (slow && seq % 7 === 0) await Bun.sleep(0);
          }
        })();
        for (const step of work) {
          if (step === 'pause') await Bun.sleep(0);
          else append(log, id, step);
        }
        const latest = log.store.latest(id);
        for (let i = 0; i < 1_000 && seen.at(-1) !== latest && latest > after; i++) await Bun.sleep(0);
        stop.abort();
        await reading;
        expect(seen).toEqual(Array.from({ length: latest - after }, (_, i) => after + i + 1));
      }),
      { numRuns: 40 },
    );
  });

  test('ends with the last event that it wants, and knows what happened together with it', async () => {
    const { log, id } = scene();
    log.commit(() => log.append(id, 1, { type: 'turn.end' }, { type: 'session.end' }));
    const isLast = ({ type }: StoredEvent, next: StoredEvent | undefined) =>
      type === 'turn.end' && next?.type !== 'session.end';
    const followed = {
      sessionId: id,
      after: 0,
      signal: new AbortController().signal,
      isLast,
      isOver: () => true,
    };
    const types: string[] = [];
    for await (const { type } of followEvents(log, followed)) types.push(type);
    expect(types).toEqual(['turn.end', 'session.end']);
  });
});
