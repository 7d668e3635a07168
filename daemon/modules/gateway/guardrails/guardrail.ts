import type { ModelCall } from '../pipeline/call.ts';
import type { Violation } from '../pipeline/stages.ts';
import type { GuardrailSettings } from './config.ts';

/** A request to a model, or the text of an answer as `{ input: text }`. */
export type Subject = Readonly<Record<string, unknown>>;

/** What a guardrail has made of a subject: the same one, or one that is redacted or cut. */
export interface Looked {
  readonly subject: Subject;
  readonly violations: readonly Violation[];
}

/** Looks for one thing. Has no state; everything it goes by is in the settings. */
export interface Guardrail {
  /** As it stands in violations. */
  readonly name: string;
  /** Whether it looks at what goes in or at what comes out. */
  readonly direction: 'input' | 'output';
  isOn(settings: GuardrailSettings): boolean;
  /** `call` is who asks, for guardrails that ask a model themselves. Holds up nobody else for more than some milliseconds. */
  look(subject: Subject, settings: GuardrailSettings, call: ModelCall): Promise<Looked>;
}
