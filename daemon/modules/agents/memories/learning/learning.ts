import { KeyedLock } from '../../../../../src/kit/keyed-lock.ts';
import { DAY_MS, MINUTE_MS } from '../../../../../src/kit/time.ts';
import type { App } from '../../../../app.ts';
import type { Caller } from '../../../../http/route.ts';
import type { ChatMessage, Converse } from '../../../gateway/index.ts';
import type { Agent, Agents } from '../../definitions/agent.ts';
import type { LearnedTurn, NewMemory } from '../face.ts';
import { isThere } from '../is-there.ts';
import { LIMITS } from '../limits.ts';
import type { Keeping, Remembering } from '../remembering.ts';
import { type Shelf, shelfOf, userOf } from '../shelves.ts';
import type { MemoryStore } from '../store.ts';
import type { LessonRow } from '../tables.ts';
import { type Fact, readFacts } from './facts.ts';
import type { LessonKey, LessonStore } from './lesson-store.ts';
import { lessonQuestion } from './question.ts';

/** What learning needs. */
export interface LearningParts {
  readonly lessons: LessonStore;
  readonly memories: MemoryStore;
  readonly remembering: Remembering;
  readonly agents: Agents;
  readonly converse: Converse;
}

const JOB = 'agent_memories.learn';
const ATTEMPTS = 3;
const ANSWER_MS = 2 * MINUTE_MS;
const KNOWN_KEYS = 100;
/** How long it is known which turns were learned from. */
const LESSONS_KEPT_MS = 30 * DAY_MS;

/** Learns from what users say, after their turns. A turn is learned from once, however often the daemon ends in the middle. */
export class Learning {
  private readonly locks = new KeyedLock();

  constructor(
    private readonly app: Pick<App, 'clock' | 'jobs' | 'log'>,
    private readonly parts: LearningParts,
  ) {
    app.jobs.handle(JOB, async ({ sessionId, turnNumber }, { tenant, attempts, maxAttempts }, signal) => {
      const key = { sessionId: String(sessionId), turnNumber: Number(turnNumber) };
      try {
        await this.study(tenant ?? '', key, signal);
      } catch (error) {
        if (attempts >= maxAttempts && !signal.aborted) parts.lessons.end(tenant ?? '', key, 'failed');
        throw error;
      }
    });
    app.jobs.every('agent_memories.prune', DAY_MS, () => {
      const before = app.clock.now() - LESSONS_KEPT_MS;
      parts.lessons.prune(before);
      parts.memories.pruneCalls(before);
    });
  }

  /** Notes that a turn is to be learned from, in the caller's transaction. Nothing where the agent does not extract. */
  note(caller: Caller, agent: Agent, { sessionId, turnNumber, userInput }: LearnedTurn): void {
    const { enabled, autoExtract, scope } = agent.memory;
    if (!enabled || !autoExtract || userInput.trim() === '') return;
    const isNew = this.parts.lessons.add(caller.tenant, {
      ...{ sessionId, turnNumber, caller, scope },
      agentId: agent.id,
      model: agent.model,
      input: bounded(userInput),
      state: 'waiting',
      createdAt: this.app.clock.now(),
    });
    if (!isNew) return;
    const payload = { sessionId, turnNumber };
    this.app.jobs.add({ kind: JOB, tenant: caller.tenant, payload, maxAttempts: ATTEMPTS });
  }

  /** One turn of a user after the other: each knows the keys of the one before. Errors: those of the model. */
  private async study(tenant: string, key: LessonKey, signal: AbortSignal): Promise<void> {
    const noted = this.parts.lessons.waiting(tenant, key);
    if (!noted) return;
    const { scope, owner } = shelfIn(noted);
    await this.locks.run(JSON.stringify([tenant, scope, owner]), async () => {
      const lesson = this.parts.lessons.waiting(tenant, key);
      if (lesson) await this.learn(lesson, signal);
    });
  }

  private async learn(lesson: LessonRow, signal: AbortSignal): Promise<void> {
    const { lessons, remembering } = this.parts;
    const { tenant, caller, agentId, createdAt: saidAt } = lesson;
    if (!isThere(this.parts.agents, tenant, agentId)) {
      lessons.end(tenant, lesson, 'failed');
      return;
    }
    const facts = await this.factsIn(lesson, signal);
    const memories = facts.map((fact) => memoryOf(fact, lesson));
    const mark: Keeping['mark'] = (write) => (lessons.end(tenant, lesson, 'learned') ? write() : []);
    await remembering.keep({ caller, agentId, saidAt, signal, mark }, memories);
  }

  private async factsIn(lesson: LessonRow, signal: AbortSignal): Promise<Fact[]> {
    const { memories, converse } = this.parts;
    const { tenant, caller, model, input } = lesson;
    const shelf = memories.findShelf(tenant, shelfIn(lesson));
    const keys = shelf === undefined ? [] : memories.factKeys(tenant, shelf, KNOWN_KEYS);
    const { message } = await converse(caller, {
      request: { model, messages: lessonQuestion(input, keys) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    return readFacts(textOf(message));
  }
}

function shelfIn({ scope, agentId, caller }: LessonRow): Shelf {
  return shelfOf(scope, { agentId, userId: userOf(caller) });
}

/** What is kept of a long text: its beginning, and its end, where wishes stand. */
function bounded(text: string): string {
  const most = LIMITS.lessonLength;
  if (text.length <= most) return text;
  return `${text.slice(0, (most * 3) / 4)}\n[...]\n${text.slice(-most / 4)}`;
}

function memoryOf(fact: Fact, { scope, sessionId, turnNumber }: LessonRow): NewMemory {
  return { ...fact, scope, source: 'auto_extracted', sessionId, turnNumber };
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .map((part) => ('text' in part && typeof part.text === 'string' ? part.text : ''))
    .join('');
}
