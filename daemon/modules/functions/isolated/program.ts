import type { Language } from '../config/isolated.ts';
import node from './function.node-kernel' with { type: 'text' };
import python from './function.py' with { type: 'text' };

/**
 * Moves the way of the orders and of the answers out of the way of the code, whose whole output goes to stderr, then
 * becomes the interpreter.
 */
const LAUNCH =
  'command -v "$1" >/dev/null 2>&1 || { echo "missing $1" >&2; exit 127; }; ' +
  'cd /workspace 2>/dev/null || cd /tmp; exec 7<&0 8>&1 1>&2 </dev/null; exec "$@"';

const WORDS: Readonly<Record<Language, readonly [program: string, ...string[]]>> = {
  node: ['node', '-e', node],
  python: ['python3', '-c', python],
};

/** What runs functions of a language. */
export function programOf(language: Language): readonly [string, ...string[]] {
  return ['/bin/sh', '-c', LAUNCH, 'sh', ...WORDS[language]];
}

/** The program that an image needs for a language. */
export function interpreterOf(language: Language): string {
  return WORDS[language][0];
}
