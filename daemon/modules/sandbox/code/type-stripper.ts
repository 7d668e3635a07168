import amaroPath from '../../../../node_modules/amaro/dist/internal.js' with { type: 'file' };

/**
 * A library for node (CommonJS, 3.8 MB) that takes types out of TypeScript: `transformSync(code, {mode})`. It is for use inside a
 * sandbox: a transpiler of the daemon's own would carry out macros of the code here.
 */
export function typeStripper(): Promise<string> {
  return Bun.file(amaroPath as unknown as string).text();
}
