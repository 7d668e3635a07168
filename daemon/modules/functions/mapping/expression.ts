import { follow, parsePath, type Step } from './path.ts';

/** Where a value of a request or a result comes from. */
export type Expression =
  /** A value as it is, whatever its type. */
  | { readonly kind: 'path'; readonly steps: readonly Step[] }
  /** Text with values in it. */
  | { readonly kind: 'text'; readonly parts: ReadonlyArray<string | readonly Step[]> };

/**
 * Reads an expression: a path (`$.city.name`), text with placeholders (`Bearer {token}`, `{a.b[0]}`), or plain text.
 * A lone placeholder is a path. `{{` and `}}` are braces. The reason when it cannot be read.
 */
export function parseExpression(text: string): Expression | string {
  if (/^\$($|[.[])/.test(text)) {
    const steps = parsePath(text);
    return typeof steps === 'string' ? steps : { kind: 'path', steps };
  }
  const parts: Array<string | readonly Step[]> = [];
  for (const [piece, placeholder] of text.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/g)) {
    if (placeholder !== undefined) {
      const steps = parsePath(`$${/^\[/.test(placeholder) ? '' : '.'}${placeholder}`);
      if (typeof steps === 'string') return `{${placeholder}} names no argument: ${steps}`;
      parts.push(steps);
    } else if (piece === '{' || piece === '}')
      return `has a lone ${piece}; write ${piece}${piece} for a brace`;
    else parts.push(piece === '{{' ? '{' : piece === '}}' ? '}' : piece);
  }
  const [only] = parts;
  return parts.length === 1 && typeof only === 'object'
    ? { kind: 'path', steps: only }
    : { kind: 'text', parts };
}

/** Whether it holds nothing of the arguments: it is always the same. */
export function isConstant(expression: Expression): boolean {
  return expression.kind === 'text' && expression.parts.every((part) => typeof part === 'string');
}

/** The value of an expression; undefined when something that it names is not there. */
export function evaluate(expression: Expression, root: unknown): unknown {
  if (expression.kind === 'path') return follow(root, expression.steps);
  const texts = expression.parts.map((part) =>
    typeof part === 'string' ? part : textOf(follow(root, part)),
  );
  return texts.includes(undefined) ? undefined : texts.join('');
}

/** A value as text: text as it is, anything else as JSON; undefined for nothing and null. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
