import type { LIFECYCLE_STATES } from '../../../../src/api/sandbox/lifecycle.ts';
import { type AppError, fail } from '../../../../src/errors/app-error.ts';

/** A state of a sandbox (spec, Sandbox lifecycle). */
export type State = (typeof LIFECYCLE_STATES)[number];

/** What can be asked of a sandbox. */
export type Operation =
  | 'stop'
  | 'revive'
  | 'archive'
  | 'restore'
  | 'resize'
  | 'snapshot'
  | 'terminate'
  | 'use'
  | 'renew';

interface Transition {
  readonly from: readonly State[];
  readonly through?: State;
  readonly to?: State;
  /** The words that follow "it cannot". */
  readonly verb: string;
}

/**
 * The transitions. Anything else is refused with 409 and changes nothing. Terminating can be asked for again,
 * because the host may have failed to do it.
 */
export const TRANSITIONS: Readonly<Record<Operation, Transition>> = {
  stop: { from: ['running'], through: 'stopping', to: 'sleeping', verb: 'be stopped' },
  revive: { from: ['sleeping'], through: 'reviving', to: 'running', verb: 'be revived' },
  archive: { from: ['sleeping'], through: 'archiving', to: 'archived', verb: 'be archived' },
  restore: { from: ['archived'], through: 'reviving', to: 'running', verb: 'be restored' },
  resize: { from: ['running', 'sleeping'], verb: 'be resized' },
  snapshot: { from: ['running', 'sleeping'], verb: 'be copied' },
  terminate: {
    from: [
      'pending',
      'creating',
      'running',
      'stopping',
      'sleeping',
      'reviving',
      'archiving',
      'archived',
      'failed',
      'terminating',
    ],
    through: 'terminating',
    to: 'terminated',
    verb: 'be terminated',
  },
  use: { from: ['running'], verb: 'run commands' },
  renew: { from: ['running', 'pending', 'creating', 'reviving', 'sleeping'], verb: 'be renewed' },
};

const WAY_OUT: Readonly<Record<State, (id: string) => string>> = {
  pending: () => 'It is being made; try again in a moment.',
  creating: () => 'It is being made; try again in a moment.',
  running: (id) => `Stop it: svc sandbox stop ${id}`,
  stopping: () => 'It is stopping; try again in a moment.',
  sleeping: (id) => `Wake it: svc sandbox revive ${id}`,
  reviving: () => 'It is waking; try again in a moment.',
  archiving: () => 'It is being archived; try again in a moment.',
  archived: (id) => `Restore it: svc sandbox restore ${id}`,
  terminating: () => 'It is gone. Make a new one: svc sandbox create',
  terminated: () => 'It is gone. Make one like it: svc sandbox recreate, or svc sandbox create',
  failed: (id) => `Remove it: svc sandbox rm ${id}, or make one like it: svc sandbox recreate ${id}`,
};

/** Whether an operation is allowed in a state. */
export function allows(operation: Operation, state: State): boolean {
  return TRANSITIONS[operation].from.includes(state);
}

/** The 409 of an operation that the state does not allow. It names the way out. */
export function wrongState(id: string, state: State, operation: Operation): AppError {
  return fail('sandbox_wrong_state', {
    id,
    state,
    operation: TRANSITIONS[operation].verb,
    leave: WAY_OUT[state](id),
  });
}

/** The `status` that follows from a state. */
export function statusOf(state: State) {
  return STATUS[state];
}

const STATUS = {
  pending: 'SANDBOX_STATUS_PENDING',
  creating: 'SANDBOX_STATUS_PENDING',
  running: 'SANDBOX_STATUS_RUNNING',
  stopping: 'SANDBOX_STATUS_RUNNING',
  reviving: 'SANDBOX_STATUS_RUNNING',
  sleeping: 'SANDBOX_STATUS_STOPPED',
  archiving: 'SANDBOX_STATUS_STOPPED',
  archived: 'SANDBOX_STATUS_STOPPED',
  terminating: 'SANDBOX_STATUS_STOPPED',
  terminated: 'SANDBOX_STATUS_STOPPED',
  failed: 'SANDBOX_STATUS_FAILED',
} as const satisfies Record<State, string>;

/** The states that a `status` stands for; all of them when it says nothing. */
export function statesOf(status: string | undefined): State[] {
  const states = Object.keys(STATUS) as State[];
  const all = status === undefined || status === 'SANDBOX_STATUS_UNSPECIFIED';
  return all ? states : states.filter((state) => STATUS[state] === status);
}
