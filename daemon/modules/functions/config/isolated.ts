import type { IsolatedConfig } from '../../../../src/api/functions/functions.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { invalid } from '../../../../src/errors/app-error.ts';

/** What the code of a function is written for. */
export type Language = 'node' | 'python';

/** An isolated function: code that runs in a sandbox. */
export interface Isolated {
  /** As it was asked for: `nodejs20`, `python3.12`. The version that runs is the one that is there. */
  readonly runtime: string;
  readonly code: string;
}

type Sent = Value<typeof IsolatedConfig>;

const RUNTIME = /^(?:(node)(?:js)?|(python))[-:]?v?\d{0,3}(?:\.(?:\d{1,3}|x)){0,2}$/;
const MOST_CODE = 256 * 1024;

/** The language of a runtime's name; undefined for one that is not known. */
export function languageOf(runtime: string): Language | undefined {
  const [, node] = RUNTIME.exec(runtime.toLowerCase()) ?? [];
  if (!RUNTIME.test(runtime.toLowerCase())) return undefined;
  return node ? 'node' : 'python';
}

/** Isolated code as it was sent, over what was there before. Errors: invalid_argument naming the field. */
export function readIsolated(sent: Sent, earlier: Isolated | undefined): Isolated {
  const refuse = (name: string, description: string) => invalid({ field: `isolated.${name}`, description });
  const runtime = sent.runtime || earlier?.runtime || 'nodejs';
  const code = sent.code ?? earlier?.code ?? '';
  if (!languageOf(runtime)) throw refuse('runtime', 'must be nodejs or python, with a version or not');
  if (code.trim() === '') throw refuse('code', 'is required');
  if (Buffer.byteLength(code) > MOST_CODE) throw refuse('code', `must be at most ${MOST_CODE / 1024} KiB`);
  if (code.includes('\0')) throw refuse('code', 'must not hold a NUL byte');
  if ((sent.packages ?? []).length > 0)
    throw refuse('packages', 'are not installed; bundle what the code needs into it');
  if (sent.dockerHost)
    throw refuse('dockerHost', 'is not taken: code runs on the sandboxes of this instance');
  return { runtime, code };
}

/** Isolated code as it is shown. */
export function showIsolated({ runtime, code }: Isolated): Sent {
  return { runtime, code, packages: [] };
}
