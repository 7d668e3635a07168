const START = 'var standalone_default = "';
const END = '";\n';

/**
 * The browser script of Scalar, which its package carries as a string literal in its one module.
 * Read as text, so that the rest of the package never runs. Errors: Error when the package has changed its form.
 */
export function scriptIn(moduleText: string): string {
  const start = moduleText.indexOf(START);
  const end = moduleText.indexOf(END, start);
  if (start < 0 || end < 0) throw new Error('The API reference package holds its script in another form.');
  return moduleText
    .slice(start + START.length, end)
    .replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
}
