const TEXT = /"(?:text|delta)"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/** Every text named `text` or `delta` in JSON, whole or in events, without parsing the rest. */
export function textsIn(json: string): string[] {
  return [...json.matchAll(TEXT)].map(([, quoted = '""']) => unquoted(quoted));
}

function unquoted(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted;
  }
}
