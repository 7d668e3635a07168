import { fail, invalid } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import type { App } from '../../../app.ts';
import type { CommandService } from '../command/service.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { Sandbox } from '../tables.ts';
import { CodeContext } from './context.ts';
import { Kernel } from './kernel.ts';
import { DEFAULT_LANGUAGE, type Language, languageOf } from './languages.ts';
import { Run } from './run.ts';
import type { CodeContextStore } from './store.ts';
import type { CodeContextRow } from './tables.ts';

/** What the service takes from the module. */
export interface CodeParts {
  readonly app: App;
  readonly driver: SandboxDriver;
  readonly lifecycle: LifecycleService;
  readonly commands: CommandService;
  readonly store: CodeContextStore;
}

/** Which context code is for: one by its id, else the default one of a language. */
export interface ContextChoice {
  readonly id?: string;
  readonly language?: string;
}

/** A run, and how its caller takes it back. */
export interface StartedRun {
  readonly run: Run;
  withdraw(): Promise<void>;
}

/** Opens contexts, runs code in them, and ends them. They belong to this process: none outlives it. */
export class CodeService {
  private readonly live = new Map<string, CodeContext>();
  private readonly starting = new Map<string, number>();
  private readonly defaults = new Map<string, Promise<CodeContext>>();
  private readonly idle = new Map<string, Timer>();

  constructor(private readonly parts: CodeParts) {}

  /** Opens a context. Errors: invalid_argument, sandbox_wrong_state, resource_exhausted, failed_precondition. */
  async open(tenant: string, sandbox: string, languageName: string): Promise<CodeContextRow> {
    const language = languageOf(languageName, 'language');
    const box = this.parts.lifecycle.running(tenant, sandbox);
    return (await this.start(box, language)).row;
  }

  list(tenant: string, sandbox: string, languageName?: string): CodeContextRow[] {
    const language = languageName === undefined ? undefined : languageOf(languageName, 'language');
    const { id } = this.parts.lifecycle.get(tenant, sandbox);
    return this.ofBox(tenant, id)
      .map(({ row }) => row)
      .filter((row) => language === undefined || row.language === language);
  }

  /** Errors: not_found, context_ended. */
  get(tenant: string, sandbox: string, id: string): CodeContext {
    const box = this.parts.lifecycle.get(tenant, sandbox);
    const context = this.ofBox(tenant, box.id).find(({ row }) => row.id === id);
    if (context) return context;
    const row = this.parts.store.find(tenant, box.id, id);
    if (!row) throw fail('not_found', { what: 'code context', id });
    throw fail('context_ended', { id, why: row.reason ?? 'svc was restarted', language: row.language });
  }

  async close(tenant: string, sandbox: string, id: string): Promise<void> {
    await this.get(tenant, sandbox, id).close('it was closed');
  }

  /** Closes all contexts of a language; answers how many. */
  async closeAll(tenant: string, sandbox: string, languageName: string): Promise<number> {
    const rows = this.list(tenant, sandbox, languageName);
    await Promise.all(rows.map(({ id }) => this.live.get(id)?.close('it was closed')));
    return rows.length;
  }

  /** Runs code. Errors: invalid_argument, not_found, context_ended, resource_exhausted, and those of `open`. */
  async run(tenant: string, sandbox: string, code: string, choice: ContextChoice = {}): Promise<StartedRun> {
    const box = this.parts.lifecycle.running(tenant, sandbox);
    if (code.includes('\0')) throw invalid({ field: 'code', description: 'must not hold a NUL byte' });
    const context = await this.choose(box, choice);
    context.checkRoom();
    const run: Run = new Run(
      code,
      this.parts.commands.recordCode(box, context.row.language, code, { kill: () => context.stop(run) }),
    );
    this.stayAwake(context);
    context.submit(run);
    return { run, withdraw: () => context.withdraw(run) };
  }

  /** Stops what runs in a context. Errors: not_found, context_ended, failed_precondition. */
  async interrupt(tenant: string, sandbox: string, id: string): Promise<void> {
    await this.get(tenant, sandbox, id).interrupt();
  }

  /** Ends the contexts of a sandbox that is ending. */
  endBox(tenant: string, sandboxId: string): void {
    for (const context of this.ofBox(tenant, sandboxId)) void context.close('its sandbox was stopped');
  }

  private async choose(box: Sandbox, { id, language }: ContextChoice): Promise<CodeContext> {
    if (id) {
      const context = this.get(box.tenant, box.id, id);
      const isOther = language && languageOf(language, 'context.language') !== context.row.language;
      if (isOther)
        throw invalid({
          field: 'context.language',
          description: `is not that of the context, ${context.row.language}`,
        });
      return context;
    }
    return this.defaultOf(box, language ? languageOf(language, 'context.language') : DEFAULT_LANGUAGE);
  }

  /** The context of a sandbox for code that names none: made when it is first needed, and again when it has ended. */
  private defaultOf(box: Sandbox, language: Language): Promise<CodeContext> {
    const key = `${box.id}/${language}`;
    const known = this.defaults.get(key);
    if (known) return known;
    const made = this.start(box, language);
    this.defaults.set(key, made);
    const forget = () => void this.defaults.delete(key);
    made.then((context) => context.whenEnded.then(forget), forget);
    return made;
  }

  private async start(box: Sandbox, language: Language): Promise<CodeContext> {
    this.checkLimit(box);
    const { app, driver, store } = this.parts;
    const count = (change: number) => this.starting.set(box.id, (this.starting.get(box.id) ?? 0) + change);
    count(1);
    try {
      const id = newId('ctx', app.clock.now());
      const kernel = await Kernel.start(driver, box.id, id, language);
      const { tenant } = box;
      const createdAt = app.clock.now();
      const row: CodeContextRow = {
        id,
        tenant,
        sandboxId: box.id,
        language,
        state: 'open',
        reason: null,
        createdAt,
        endedAt: null,
      };
      store.insert(row);
      const context: CodeContext = new CodeContext(
        row,
        kernel,
        (why) => this.forget(row, why),
        () => this.expireSoon(context),
      );
      this.live.set(id, context);
      this.expireSoon(context);
      return context;
    } finally {
      count(-1);
      if (this.starting.get(box.id) === 0) this.starting.delete(box.id);
    }
  }

  private forget(row: CodeContextRow, why: string): void {
    const { app, store } = this.parts;
    this.live.delete(row.id);
    clearTimeout(this.idle.get(row.id));
    this.idle.delete(row.id);
    store.end(row.tenant, row.sandboxId, row.id, why, app.clock.now());
  }

  private stayAwake({ row }: CodeContext): void {
    clearTimeout(this.idle.get(row.id));
    this.idle.delete(row.id);
  }

  private expireSoon(context: CodeContext): void {
    const idleMs = this.parts.app.config.get('sandbox.code_idle');
    this.stayAwake(context);
    if (idleMs === 0 || context.ended !== undefined) return;
    const close = () => {
      if (!context.isBusy) void context.close(`it was not used for ${Math.round(idleMs / 1000)} s`);
    };
    const timer = setTimeout(close, idleMs);
    timer.unref();
    this.idle.set(context.row.id, timer);
  }

  private checkLimit(box: Sandbox): void {
    const most = this.parts.app.config.get('sandbox.code_contexts');
    if (this.ofBox(box.tenant, box.id).length + (this.starting.get(box.id) ?? 0) < most) return;
    throw fail('resource_exhausted', {
      message: `This sandbox has ${most} code contexts already (sandbox.code_contexts). Close one first.`,
    });
  }

  private ofBox(tenant: string, sandboxId: string): CodeContext[] {
    return [...this.live.values()].filter(({ row }) => row.tenant === tenant && row.sandboxId === sandboxId);
  }
}
