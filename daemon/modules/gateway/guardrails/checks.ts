import { fail, invalid } from '../../../../src/errors/app-error.ts';
import type { ModelCall, ModelRequest } from '../pipeline/call.ts';
import type { Guardrails, Violation } from '../pipeline/stages.ts';
import type { GuardrailSettings } from './config.ts';
import type { Guardrail, Looked, Subject } from './guardrail.ts';
import { tokensIn } from './words.ts';

/** Requests that have nothing to guard: what is moderated is meant to be bad, and counting tells nobody anything. */
const UNGUARDED = new Set(['moderations', 'count_tokens']);

/** What guardrails found in one text, for callers that decide themselves: workflow nodes and the like. */
export interface Examined {
  /** `block` when one of the violations blocks. */
  readonly verdict: 'pass' | 'block';
  /** As it would go on. */
  readonly text: string;
  readonly violations: readonly Violation[];
}

/** Takes requests and answers through a list of guardrails, in its order. A block ends it. */
export class GuardrailChecks implements Guardrails {
  private readonly known = new WeakMap<GuardrailSettings, ReturnType<Guardrails['active']>>();

  constructor(
    private readonly guardrails: readonly Guardrail[],
    private readonly settingsOf: (tenant: string) => GuardrailSettings,
  ) {}

  active(tenant: string): { readonly input: boolean; readonly output: boolean } {
    const settings = this.settingsOf(tenant);
    if (!settings.enabled) return OFF;
    const known = this.known.get(settings);
    if (known) return known;
    const has = (direction: Guardrail['direction']) =>
      this.guardrails.some((one) => one.direction === direction && one.isOn(settings));
    const found = { input: has('input'), output: has('output') };
    this.known.set(settings, found);
    return found;
  }

  /** Errors: guardrail_blocked; invalid_argument for tokens, which cannot be looked at. */
  async checkInput<R extends ModelRequest>(
    call: ModelCall<R>,
  ): Promise<{ request: R; violations: readonly Violation[] }> {
    if (UNGUARDED.has(call.surface)) return { request: call.request, violations: [] };
    const asked = call.request as unknown as Subject;
    const field = tokensIn(asked);
    if (field)
      throw invalid({ field, description: 'must be text: guardrails cannot look at numbers of tokens' });
    const { subject, violations } = await this.look('input', asked, call);
    refuse('input', violations);
    return { request: subject as unknown as R, violations };
  }

  /** Errors: guardrail_blocked. */
  async checkOutput(call: ModelCall, text: string): Promise<readonly Violation[]> {
    const { violations } = await this.look('output', { input: text }, call);
    refuse('output', violations);
    return violations;
  }

  /** Looks at one text, also while guardrails are off. */
  async examine(call: ModelCall, direction: Guardrail['direction'], text: string): Promise<Examined> {
    const { subject, violations } = await this.look(direction, { input: text }, call);
    return { verdict: violations.some(isBlock) ? 'block' : 'pass', text: String(subject.input), violations };
  }

  private async look(direction: Guardrail['direction'], asked: Subject, call: ModelCall): Promise<Looked> {
    const settings = this.settingsOf(call.caller.tenant);
    let subject = asked;
    const violations: Violation[] = [];
    for (const guardrail of this.guardrails) {
      if (guardrail.direction !== direction || !guardrail.isOn(settings)) continue;
      const looked = await guardrail.look(subject, settings, call).catch(tooDeep);
      ({ subject } = looked);
      violations.push(...looked.violations);
      if (looked.violations.some(isBlock)) break;
    }
    return { subject, violations };
  }
}

const OFF = { input: false, output: false };

function isBlock({ action }: Violation): boolean {
  return action === 'block';
}

function refuse(direction: 'input' | 'output', violations: readonly Violation[]): void {
  const blocks = violations.filter(isBlock);
  if (blocks.length === 0) return;
  const what = direction === 'input' ? 'request' : 'answer';
  const names = blocks.map(({ guardrail, match }) => `${guardrail} (${match})`).join(', ');
  throw fail('guardrail_blocked', {
    message: `A guardrail has blocked this ${what}: ${names}.`,
    direction,
    violations,
  });
}

/** What is nested too deeply to be walked through. */
function tooDeep(error: unknown): never {
  if (error instanceof RangeError) throw invalid({ field: 'body', description: 'is nested too deeply' });
  throw error;
}
