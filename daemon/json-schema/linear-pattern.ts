import { RE2JS } from 're2js';

/**
 * A pattern in RE2's syntax, matched in time that grows with the text alone: a pattern that a tenant wrote cannot hold the
 * event loop. It has what Ajv wants of a regular expression.
 */
export class LinearPattern {
  private readonly compiled: RE2JS;

  /** Errors: a SyntaxError-like one for what RE2 has not, such as look-around and back references. */
  constructor(private readonly source: string) {
    this.compiled = RE2JS.compile(source);
  }

  test(text: string): boolean {
    return this.compiled.matcher(text).find();
  }

  /** Ajv keeps one object for each text of a pattern, and asks the object for that text. */
  toString(): string {
    return `/${this.source}/`;
  }
}

/** Makes patterns for Ajv. `code` is only for modules that are written out, which none is here. */
export const linearPatterns = Object.assign((source: string) => new LinearPattern(source), {
  code: 'linearPatterns',
});
