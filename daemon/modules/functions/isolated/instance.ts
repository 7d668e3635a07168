import { fail } from '../../../../src/errors/app-error.ts';
import { MINUTE_MS } from '../../../../src/kit/time.ts';
import type { Caller } from '../../../http/route.ts';
import type { OwnSandboxes } from '../../sandbox/index.ts';
import { type Language, languageOf } from '../config/isolated.ts';
import { failed, MOST_RESULT, type Outcome } from '../outcome.ts';
import { Conversation, type Reply } from './conversation.ts';
import { interpreterOf, programOf } from './program.ts';

/** Code that runs in a sandbox of its own. */
export interface Code {
  readonly functionId: string;
  readonly functionName: string;
  readonly runtime: string;
  readonly code: string;
  readonly memoryMb: number;
}

/** How long a sandbox and its interpreter may take until the code is read. */
const START_MS = 60_000;
/** The sandbox of an instance ends by itself after this, should nobody end it. */
const LIFETIME_SECONDS = 3_600;
/** An instance is not used when it is older: the longest call has to fit before its sandbox ends. */
const USED_MS = 40 * MINUTE_MS;
const SHOWN = 1_000;

/** What an instance is made with. */
export interface InstanceParts {
  readonly own: OwnSandboxes;
  readonly caller: Caller;
  /** The name under which its sandbox is found after a crash. */
  readonly key: string;
  readonly code: Code;
  readonly image: string;
  readonly onEnd: (instance: Instance) => void;
}

/** One sandbox with the code of one function in it, that takes one call at a time. */
export class Instance {
  isBusy = false;
  /** It is not to be used again. */
  isSpent = false;
  lastUsed = 0;
  private readonly born = performance.now();
  private readonly conversation: Conversation;

  private constructor(
    readonly parts: InstanceParts,
    private readonly sandboxId: string,
    process: ConstructorParameters<typeof Conversation>[0],
  ) {
    this.conversation = new Conversation(process, () => parts.onEnd(this));
  }

  /**
   * Makes a sandbox and has the code read in it. What code says against itself is an outcome. Errors: those of making a
   * sandbox, failed_precondition when it lacks the interpreter.
   */
  static async start(parts: InstanceParts, signal: AbortSignal): Promise<Instance | Outcome> {
    const { own, caller, code } = parts;
    const language = languageOf(code.runtime) ?? 'node';
    const sandboxId = await own.create(caller, sandboxOf(parts, language), parts.key);
    let instance: Instance | undefined;
    try {
      instance = new Instance(
        parts,
        sandboxId,
        await own.start(caller.tenant, sandboxId, programOf(language)),
      );
      const reply = await instance.conversation.ask({ op: 'load', code: code.code }, START_MS, signal);
      if (reply.kind === 'result') return instance;
      if (reply.kind === 'ended' && reply.last.includes(`missing ${interpreterOf(language)}`))
        throw fail('failed_precondition', {
          message: `The sandboxes of this instance have no ${interpreterOf(language)}, which ${code.runtime} needs. An image that has it can be named in functions.image.`,
        });
      const outcome = instance.outcomeOf(reply, START_MS);
      await instance.end();
      return outcome;
    } catch (error) {
      if (instance) await instance.end();
      else await own.terminate(caller.tenant, sandboxId);
      throw error;
    }
  }

  /** Runs the function once. Errors: cancelled. */
  async call(args: unknown, timeoutMs: number, signal: AbortSignal): Promise<Outcome> {
    const reply = await this.conversation.ask({ op: 'call', args, most: MOST_RESULT }, timeoutMs, signal);
    // Code that was cut off may be anywhere: nobody calls it again.
    if (reply.kind !== 'result' && reply.kind !== 'error') this.isSpent = true;
    return this.outcomeOf(reply, timeoutMs);
  }

  /** Whether a further call may begin. */
  get isUsable(): boolean {
    return !this.isSpent && !this.conversation.exit && performance.now() - this.born < USED_MS;
  }

  /** Ends the sandbox with all that runs in it. */
  async end(): Promise<void> {
    this.isSpent = true;
    const { own, caller } = this.parts;
    await this.conversation.kill();
    await own.terminate(caller.tenant, this.sandboxId);
  }

  private outcomeOf(reply: Reply, timeoutMs: number): Outcome {
    switch (reply.kind) {
      case 'result':
        return { status: 'success', result: reply.result, logs: reply.logs, attempts: 1 };
      case 'error':
        return { ...failed(reply.error, 1), logs: reply.logs };
      case 'timeout':
        return { ...failed(`did not answer within ${timeoutMs} ms`, 1, 'timeout'), logs: reply.logs };
      case 'ended':
        return { ...failed(this.whyEnded(reply), 1), logs: reply.logs };
      case 'cancelled':
        throw fail('cancelled');
    }
  }

  private whyEnded({ exit, last }: Extract<Reply, { kind: 'ended' }>): string {
    const said = last === '' ? '' : `:\n${last.slice(-SHOWN)}`;
    if (exit?.outOfMemory)
      return `was ended because it used more than ${this.parts.code.memoryMb} MB of memory`;
    if (exit?.startError) return `could not be started: ${exit.startError}`;
    if (exit?.signal) return `was ended by ${exit.signal} before it answered${said}`;
    return `ended with code ${exit?.code ?? '?'} before it answered${said}`;
  }
}

function sandboxOf({ code, image }: InstanceParts, language: Language) {
  const template = { node: 'node', python: 'python' }[language];
  return {
    ...(image === '' ? { templateId: template } : { image }),
    memoryMb: String(code.memoryMb),
    timeoutSeconds: LIFETIME_SECONDS,
    autoDeleteAfterDays: 0,
    labels: { 'svc.function': code.functionName },
  };
}
