/** Text styles of a terminal; each returns its text unchanged when colours are off. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

/** Makes the styles of a stream (ECMA-48 SGR sequences). */
export function makeStyle(enabled: boolean): Style {
  const sgr = (on: number, off: number) => (text: string) =>
    enabled ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  return {
    bold: sgr(1, 22),
    dim: sgr(2, 22),
    red: sgr(31, 39),
    green: sgr(32, 39),
    yellow: sgr(33, 39),
    cyan: sgr(36, 39),
  };
}

/** Whether to colour: only on a terminal, unless NO_COLOR (no-color.org) or TERM=dumb says otherwise. */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, isTty: boolean): boolean {
  return isTty && !env.NO_COLOR && env.TERM !== 'dumb';
}
