import type { ApprovalSettings } from '../definitions/agent.ts';

/** Whether a pattern means a tool. Names are compared by their exact characters. */
export function matches(mode: ApprovalSettings['matchMode'], pattern: string, name: string): boolean {
  if (mode === 'glob') return matchesGlob(pattern, name);
  return mode === 'prefix' ? name.startsWith(pattern) : name === pattern;
}

/**
 * Whether a glob means a whole name: `*` is any characters, `?` is one, everything else is itself. Takes at most the product of
 * both lengths: of the stars, only the last one that was met is ever tried again.
 */
export function matchesGlob(glob: string, name: string): boolean {
  let [at, in_, star, from] = [0, 0, -1, 0];
  while (at < name.length) {
    if (glob[in_] === '*') {
      star = in_++;
      from = at;
    } else if (in_ < glob.length && (glob[in_] === '?' || glob[in_] === name[at])) {
      in_++;
      at++;
    } else if (star >= 0) {
      in_ = star + 1;
      at = ++from;
    } else return false;
  }
  while (glob[in_] === '*') in_++;
  return in_ === glob.length;
}
