import { createHash } from 'node:crypto';
import type { CheckedSection } from './check.ts';
import type { CheckRow, CheckState } from './tables.ts';

/** What is kept of a check: how it ended and what was looked at, not the configuration itself. */
export function checkRow(
  checked: readonly CheckedSection[],
  checkedAt: number,
  more: {
    readonly errors?: number;
    readonly warnings?: number;
    readonly text?: string;
    readonly state?: CheckState;
  } = {},
): Omit<CheckRow, 'id' | 'tenant'> {
  const errorCount = (more.errors ?? 0) + count(checked, 'errors');
  const warningCount = (more.warnings ?? 0) + count(checked, 'warnings');
  return {
    checkedAt,
    state: more.state ?? stateOf(errorCount, warningCount),
    errorCount,
    warningCount,
    configHash: hashOf(errorCount > 0 && more.text !== undefined ? more.text : canonical(givenOf(checked))),
    sections: checked.map(({ section }) => section),
  };
}

/** How a check ended that found so many errors and warnings. */
export function stateOf(errors: number, warnings: number): CheckState {
  return errors > 0 ? 'invalid' : warnings > 0 ? 'warning' : 'valid';
}

function count(checked: readonly CheckedSection[], kind: 'errors' | 'warnings'): number {
  return checked.reduce((sum, one) => sum + one[kind].length, 0);
}

function givenOf(checked: readonly CheckedSection[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(checked.map(({ section, given }) => [section, given]));
}

/** JSON whose keys are in order, so that equal configurations have equal hashes. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
