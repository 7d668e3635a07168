import { typeStripper } from '../../../sandbox/index.ts';

/** What code can be written in. */
export const LANGUAGES = ['python', 'javascript', 'typescript', 'bash'] as const;

/** The language of code. */
export type Language = (typeof LANGUAGES)[number];

/** Code as files that an interpreter of the sandbox runs. Their names are `$SVC_SCRIPT`, a dot and their end. */
export interface Script {
  readonly command: string;
  readonly files: ReadonlyArray<{ readonly end: string; readonly text: string }>;
  /** Ends of the names of files that the command makes. */
  readonly made: readonly string[];
}

/** Statements that only modules have (ECMAScript, 16.2). */
const MODULE = /^\s*(?:import\s*[\w*{"']|export\s|(?:(?:const|let|var)\s[^=]*=\s*)?await\s)/m;

/** Takes the types out, in the sandbox: the daemon never reads code. What cannot be left out (an enum) is translated. */
const STRIP = `const { readFileSync, writeFileSync } = require('node:fs');
const base = process.env.SVC_SCRIPT;
const { transformSync } = require(base + '.amaro.cjs');
const code = readFileSync(base + '.ts', 'utf8');
const strip = (mode) => transformSync(code, { mode, transform: { verbatimModuleSyntax: true } }).code;
const either = () => {
  try {
    return strip('strip-only');
  } catch (error) {
    if (error?.code !== 'UnsupportedSyntax') throw error;
    return strip('transform');
  }
};
try {
  writeFileSync(base + '.' + process.argv[2], either());
} catch (error) {
  console.error('SyntaxError: ' + String(error?.message ?? error));
  process.exitCode = 1;
}
`;

/** Code as files. */
export async function scriptOf(language: Language, code: string): Promise<Script> {
  if (language === 'python') return plain('py', 'exec python3 -u "$SVC_SCRIPT.py"', code);
  if (language === 'bash')
    return plain('sh', 'exec "$(command -v bash || command -v sh)" "$SVC_SCRIPT.sh"', code);
  const end = MODULE.test(code) ? 'mjs' : 'cjs';
  const run = `exec node "$SVC_SCRIPT.${end}"`;
  if (language === 'javascript') return plain(end, run, code);
  const files = [
    { end: 'ts', text: code },
    { end: 'amaro.cjs', text: await typeStripper() },
    { end: 'strip.cjs', text: STRIP },
  ];
  return { command: `node "$SVC_SCRIPT.strip.cjs" ${end} && ${run}`, files, made: [end] };
}

function plain(end: string, command: string, text: string): Script {
  return { command, files: [{ end, text }], made: [] };
}
