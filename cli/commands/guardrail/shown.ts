import type { Guardrails } from '../../../src/api/gateway/guardrails.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { Cli } from '../../cli.ts';
import { showJson, showList } from '../../ui/show.ts';

/** Guardrails as the API shows them. */
export type ShownGuardrails = Value<typeof Guardrails>;

/** Prints guardrails: one line for each field, and whether the organization gave it. */
export function showGuardrails(cli: Cli, shown: ShownGuardrails, { json }: { json?: true }): void {
  if (json) {
    showJson(cli, shown);
    return;
  }
  const given = new Map(leaves(shown.given ?? {}));
  showList(cli, {
    rows: leaves(shown.config ?? {}),
    none: '',
    columns: [
      { title: 'FIELD', text: ([name]) => name },
      { title: 'VALUE', text: ([, value]) => value },
      { title: 'FROM', text: ([name]) => (given.has(name) ? 'you' : 'default') },
    ],
  });
}

function leaves(value: object, path = ''): Array<readonly [name: string, value: string]> {
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = path + name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (Array.isArray(inner)) return [[field, inner.join(',')] as const];
    return typeof inner === 'object' && inner !== null
      ? leaves(inner, `${field}.`)
      : [[field, String(inner)] as const];
  });
}
