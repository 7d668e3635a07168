import { readText } from '../host/files.ts';

/** The last error that a runtime wrote into its log (one JSON object a line); undefined when it wrote none. */
export function runtimeError(path: string): string | undefined {
  const lines = (readText(path) ?? '').trim().split('\n').filter(Boolean);
  for (const line of lines.toReversed()) {
    try {
      const entry = JSON.parse(line) as { level?: string; msg?: string };
      if (entry.level === 'error' && entry.msg) return entry.msg;
    } catch {
      return line;
    }
  }
  return undefined;
}
