import { AppError } from '../../../../../src/errors/app-error.ts';
import { DAY_MS, MINUTE_MS } from '../../../../../src/kit/time.ts';
import type { App } from '../../../../app.ts';
import type { Caller } from '../../../../http/route.ts';
import type { ChatMessage, Converse } from '../../../gateway/index.ts';
import type { Agent, Agents } from '../../definitions/agent.ts';
import type { LearnedTurn, NewMemory } from '../face.ts';
import { LIMITS } from '../limits.ts';
import type { Keeping, Remembering } from '../remembering.ts';
import { shelfOf, userOf } from '../shelves.ts';
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
  private readonly ending = new AbortController();

  constructor(
    private readonly app: Pick<App, 'clock' | 'jobs' | 'log'>,
    private readonly parts: LearningParts,
  ) {
    app.jobs.handle(JOB, async ({ sessionId, turnNumber }, { tenant, attempts, maxAttempts }) => {
      const key = { sessionId: String(sessionId), turnNumber: Number(turnNumber) };
      try {
        await this.study(tenant ?? '', key);
      } catch (error) {
        if (attempts >= maxAttempts) parts.lessons.end(tenant ?? '', key, 'failed');
        throw error;
      }
    });
    app.jobs.every('agent_memories.prune', DAY_MS, () => {
      const before = app.clock.now() - LESSONS_KEPT_MS;
      parts.lessons.prune(before);
      parts.memories.pruneCalls(before);
    });
  }

  stop(): void {
    this.ending.abort();
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

  /** Errors: those of the model; the queue tries it again. */
  private async study(tenant: string, key: LessonKey): Promise<void> {
    const { lessons, remembering } = this.parts;
    const lesson = lessons.waiting(tenant, key);
    if (!lesson) return;
    if (!this.isThere(lesson)) {
      lessons.end(tenant, key, 'failed');
      return;
    }
    const facts = await this.factsIn(lesson);
    const memories = facts.map((fact) => memoryOf(fact, lesson));
    const { caller, agentId, createdAt: saidAt } = lesson;
    const mark: Keeping['mark'] = (write) => (lessons.end(tenant, key, 'learned') ? write() : []);
    await remembering.keep({ caller, agentId, saidAt, signal: this.ending.signal, mark }, memories);
  }

  private async factsIn({ tenant, agentId, caller, model, scope, input }: LessonRow): Promise<Fact[]> {
    const { memories, converse } = this.parts;
    const shelf = memories.findShelf(tenant, shelfOf(scope, { agentId, userId: userOf(caller) }));
    const keys = shelf === undefined ? [] : memories.factKeys(tenant, shelf, KNOWN_KEYS);
    const { message } = await converse(caller, {
      request: { model, messages: lessonQuestion(input, keys) },
      signal: AbortSignal.any([this.ending.signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    return readFacts(textOf(message));
  }

  private isThere({ tenant, agentId }: LessonRow): boolean {
    try {
      this.parts.agents.get(tenant, agentId);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return false;
      throw error;
    }
  }
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
