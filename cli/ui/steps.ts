import { formatDuration } from '../../src/kit/duration.ts';
import type { Terminal } from './terminal.ts';

/** What a step gives: its value, and what to say about it. */
export interface StepResult<T> {
  readonly value: T;
  readonly detail: string;
}

/** Work in named steps, shown on stderr as it goes on. */
export interface Steps {
  /** Runs a step. `show` says what it is doing now. */
  run<T>(label: string, work: (show: (detail: string) => void) => Promise<StepResult<T>>): Promise<T>;
  /** A line that stays. */
  note(line: string): void;
  /** Nothing more will be shown here. */
  close(): Promise<void>;
}

/** A live view on a terminal, plain lines elsewhere. */
export async function openSteps(terminal: Terminal): Promise<Steps> {
  if (!terminal.err.isTty) return plainSteps(terminal);
  const { liveSteps } = await import('./live-steps.tsx');
  return liveSteps();
}

function plainSteps(terminal: Terminal): Steps {
  return {
    async run(label, work) {
      const start = performance.now();
      const { value, detail } = await work((doing) => terminal.note(`${label}: ${doing}`));
      terminal.note(`${label}: ${detail} (${formatDuration(performance.now() - start)})`);
      return value;
    },
    note: (line) => terminal.note(line),
    close: async () => undefined,
  };
}
