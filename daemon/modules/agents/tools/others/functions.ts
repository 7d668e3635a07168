import type { FunctionsFace } from '../../../functions/index.ts';
import { done, failed, type ToolSource } from '../tool.ts';

/** The functions of the tenant as tools, by their names. */
export function functionTools(functions: Pick<FunctionsFace, 'find' | 'invoke'>): ToolSource {
  return {
    find({ tenant }, name) {
      const found = functions.find(tenant, name);
      if (!found) return undefined;
      return {
        ...found,
        async run(args, { caller, signal }) {
          const { status, result, error } = await functions.invoke(caller, name, args, signal);
          return status === 'success'
            ? done(textOf(result))
            : failed(error ?? `The function ended: ${status}.`);
        },
      };
    },
  };
}

function textOf(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
}
