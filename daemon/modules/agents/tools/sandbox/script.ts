import { invalid } from '../../../../../src/errors/app-error.ts';

/** What code can be written in. */
export const LANGUAGES = ['python', 'javascript', 'typescript', 'bash'] as const;

/** The language of code. */
export type Language = (typeof LANGUAGES)[number];

/** Code as a file that an interpreter of the sandbox runs. */
export interface Script {
  /** What its name ends in. */
  readonly end: string;
  /** Its path is in SVC_SCRIPT. */
  readonly command: string;
  readonly text: string;
}

const NODE = 'exec node "$SVC_SCRIPT"';
/** Statements that only modules have (ECMAScript, 16.2). */
const MODULE = /^\s*(?:import\s*[\w*{"']|export\s|(?:(?:const|let|var)\s[^=]*=\s*)?await\s)/m;

/** Code as a file. Types are taken out here, so that any node runs it. Errors: invalid_argument when they cannot be. */
export function scriptOf(language: Language, code: string): Script {
  if (language === 'python') return { end: 'py', command: 'exec python3 -u "$SVC_SCRIPT"', text: code };
  if (language === 'bash')
    return { end: 'sh', command: 'exec "$(command -v bash || command -v sh)" "$SVC_SCRIPT"', text: code };
  const text = language === 'typescript' ? withoutTypes(code) : code;
  return { end: MODULE.test(code) ? 'mjs' : 'cjs', command: NODE, text };
}

function withoutTypes(code: string): string {
  try {
    return new Bun.Transpiler({ loader: 'ts', target: 'node' }).transformSync(code);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it cannot be read';
    throw invalid({ field: 'code', description: `is no TypeScript: ${why}` });
  }
}
