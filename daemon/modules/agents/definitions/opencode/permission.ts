import { matches } from '../../reviews/pattern.ts';
import type { Action, OpencodeAgent, Permission } from './document.ts';

/** What the rules of opencode come to for one tool. Approvals here are for all calls of a tool. */
export interface Verdict {
  readonly action: Action;
  /** Its rules tell calls apart, which is not done here: every call that is not allowed anyway is asked about. */
  readonly isRough: boolean;
  /** The only things that it is for, where everything else is denied: agents, for `task`. */
  readonly only: readonly string[];
}

interface Rule {
  readonly tool: string;
  readonly pattern: string;
  readonly action: Action;
}

/** Rules of several sources, later ones before earlier ones. */
export type Rules = readonly Rule[];

/** The rules of permissions in their order. */
export function rulesOf(...permissions: ReadonlyArray<Permission | undefined>): Rules {
  return permissions.flatMap((permission = {}) => {
    if (typeof permission === 'string') return [{ tool: '*', pattern: '*', action: permission }];
    return Object.entries(permission).flatMap(([tool, rule]) =>
      typeof rule === 'string'
        ? [{ tool, pattern: '*', action: rule }]
        : Object.entries(rule).map(([pattern, action]) => ({ tool, pattern, action })),
    );
  });
}

/** What rules say of a tool: the last one that fits wins, and without one it is allowed. */
export function verdictOn(rules: Rules, tool: string): Verdict {
  const verdict = strictest(rules, tool);
  // A question waits for a person by itself.
  return tool === 'question' && verdict.action === 'ask' ? { ...verdict, action: 'allow' } : verdict;
}

function strictest(rules: Rules, tool: string): Verdict {
  const own = rules.filter((rule) => rule.tool === tool || matches('glob', rule.tool, tool));
  const base = own.findLastIndex(({ pattern }) => pattern === '*');
  const action = own[base]?.action ?? 'allow';
  const special = own.slice(base + 1).filter((rule) => rule.action !== action);
  const [first] = special;
  if (!first) return { action, isRough: false, only: [] };
  const isList =
    action === 'deny' && special.every((one) => one.action === first.action && /^[^*?]+$/.test(one.pattern));
  if (tool === 'task' && isList)
    return { action: first.action, isRough: false, only: special.map(({ pattern }) => pattern) };
  return { action: 'ask', isRough: true, only: [] };
}

/** Whether the switches of opencode leave a tool on; without a word about it `otherwise`. */
export function isOn(
  switches: ReadonlyArray<OpencodeAgent['tools']>,
  tool: string,
  otherwise: boolean,
): boolean {
  const entries = switches.flatMap((tools = {}) => Object.entries(tools));
  return entries.findLast(([name]) => name === tool || matches('glob', name, tool))?.[1] ?? otherwise;
}
