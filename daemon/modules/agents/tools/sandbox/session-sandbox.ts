import { ROLES } from '../../../../../src/api/endpoint.ts';
import { AppError, fail } from '../../../../../src/errors/app-error.ts';
import { KeyedLock } from '../../../../../src/kit/keyed-lock.ts';
import type { WorkSandboxes } from '../../../sandbox/index.ts';
import type { Agent } from '../../definitions/agent.ts';
import { unlessCancelled, wordsOf } from '../declare.ts';
import type { ToolContext } from '../tool.ts';
import { type Home, homeOf } from './home.ts';
import { sandboxKey, sandboxRequest } from './request.ts';

/** Where a tool works. */
export interface Place extends Home {
  readonly tenant: string;
  readonly sandboxId: string;
  /** What the model has to know before it reads the result; empty mostly. */
  readonly news: string;
}

type Needs = Pick<ToolContext, 'caller' | 'agent' | 'sessionId' | 'signal' | 'tell'>;

/** States change under us (it falls asleep while it is being woken): this often is looked again. */
const MOST_LOOKS = 5;
const MOST_REMEMBERED = 10_000;
const GONE = new Set(['terminating', 'terminated', 'failed']);
const REPLACED =
  'Note: the sandbox that you had is gone with its files and processes. This is a new, empty one.';

/** The sandboxes of sessions: each is made when it is first needed, woken when it sleeps, and made again when it is gone. */
export class SessionSandboxes {
  private readonly locks = new KeyedLock();
  private readonly homes = new Map<string, Home>();

  constructor(private readonly own: WorkSandboxes) {}

  /**
   * The sandbox of a session, running. Calls at once get the same one. Errors: forbidden (a viewer), cancelled,
   * resource_exhausted, image_not_found, and what else making or waking one can fail with; those are told as sandbox.error.
   */
  async ready(context: Needs): Promise<Place> {
    const { caller, agent, sessionId, signal } = context;
    if (ROLES.indexOf(caller.role) < ROLES.indexOf('member')) throw fail('forbidden', { need: 'member' });
    const key = sandboxKey(agent, sessionId);
    try {
      const work = this.locks.run(`${caller.tenant}/${key}`, () => this.settle(context, key));
      return await unlessCancelled(signal, work);
    } catch (error) {
      if (error instanceof AppError && !signal.aborted)
        context.tell({ type: 'sandbox.error', error: wordsOf(error) });
      throw error;
    }
  }

  /** Ends the sandbox of a session that is over; the one of a persistent agent stays. */
  async endSession(tenant: string, agent: Agent, sessionId: string): Promise<void> {
    if (agent.config.lifecycle === 'persistent') return;
    const key = sandboxKey(agent, sessionId);
    await this.locks.run(`${tenant}/${key}`, async () => {
      const id = this.own.find(tenant, key);
      if (id !== undefined) await this.own.terminate(tenant, id);
    });
  }

  /** The directory of a sandbox may be gone: it is looked for again. */
  forgetHome({ sandboxId }: Place): void {
    for (const name of this.homes.keys()) if (name.startsWith(`${sandboxId}/`)) this.homes.delete(name);
  }

  private async settle(context: Needs, key: string): Promise<Place> {
    const { tenant } = context.caller;
    let news = '';
    for (let look = 1; ; look++) {
      const box = this.own.look(tenant, key);
      if (box?.state === 'running') return this.placeIn(context, box.id, news);
      if (look > MOST_LOOKS)
        throw fail('unavailable', { message: `The sandbox ${box?.id ?? ''} does not stay awake.` });
      if (!box) await this.make(context, key);
      else if (GONE.has(box.state)) {
        this.own.release(tenant, key);
        news = REPLACED;
      } else await this.wake(context, box.id);
    }
  }

  private async make(context: Needs, key: string): Promise<void> {
    const { caller, agent, sessionId, tell } = context;
    tell({ type: 'sandbox.create' });
    const request = sandboxRequest(agent, sessionId);
    const sandboxId = await this.create(caller, request, key);
    tell({ type: 'sandbox.ready', sandboxId });
  }

  /** The name is for people: one that is taken is left away. */
  private async create(
    caller: ToolContext['caller'],
    request: ReturnType<typeof sandboxRequest>,
    key: string,
  ): Promise<string> {
    try {
      return await this.own.create(caller, request, key);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'already_exists')) throw error;
      return this.own.create(caller, { ...request, name: '' }, key);
    }
  }

  private async wake({ caller, tell }: Needs, sandboxId: string): Promise<void> {
    try {
      await this.own.wake(caller.tenant, sandboxId);
      tell({ type: 'sandbox.ready', sandboxId });
    } catch (error) {
      // It went away while it was being woken: the next look sees that.
      if (!(error instanceof AppError && error.code === 'sandbox_wrong_state')) throw error;
    }
  }

  private async placeIn({ caller, agent }: Needs, sandboxId: string, news: string): Promise<Place> {
    const { tenant } = caller;
    const name = `${sandboxId}/${agent.workingDirectory}`;
    const known = this.homes.get(name);
    const home = known ?? (await homeOf(this.own, tenant, sandboxId, agent.workingDirectory));
    if (this.homes.size >= MOST_REMEMBERED) this.homes.clear();
    this.homes.set(name, home);
    return { ...home, tenant, sandboxId, news };
  }
}
