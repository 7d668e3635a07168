import { readText } from '../../host/files.ts';

/**
 * The errors that a runtime wrote into its log (one JSON object a line), the parent's and the child's; undefined
 * when it wrote none.
 */
export function runtimeError(path: string): string | undefined {
  const lines = (readText(path) ?? '').split('\n').filter((line) => line.trim() !== '');
  const errors = lines.flatMap((line) => {
    try {
      const { level, msg } = JSON.parse(line) as { level?: string; msg?: string };
      return level === 'error' && msg ? [msg] : [];
    } catch {
      return [line];
    }
  });
  return errors.length > 0 ? [...new Set(errors)].join('; ') : undefined;
}
