import type { Permission, Policy } from './face.ts';
import { matches } from './pattern.ts';

/**
 * What an agent's settings say about a call (spec, Approvals). A rule that means the tool wins over every mode: it is asked.
 * Elsewhere the mode decides about tools that change something; those that only look are run. A tool that asks a person is always
 * run: it waits for that person by itself.
 */
export const policy: Policy = ({ config, permissionMode }, { name, isRead, asks }): Permission => {
  if (asks) return 'run';
  const { tools, matchMode } = config.approval;
  if (tools.some((pattern) => matches(matchMode, pattern, name))) return 'ask';
  if (isRead) return 'run';
  if (permissionMode === 'ask') return 'ask';
  return permissionMode === 'deny' ? 'refuse' : 'run';
};
