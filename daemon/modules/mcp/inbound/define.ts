import { type Fields, type Static, type TProperties, t } from '../../../../src/api/schema.ts';
import type { Caller } from '../../../http/route.ts';
import type { InboundTool } from '../face.ts';
import type { Inner, Operations } from './operations.ts';

/** A tool that is made of operations of the contract. */
export interface OperationTool<A extends Fields = Fields> {
  readonly name: string;
  readonly description: string;
  readonly args: A;
  readonly access: Caller['role'];
  readonly effect: InboundTool['effect'];
  run(operations: Operations, args: Static<A>, inner: Inner): Promise<unknown>;
}

/** Declares a tool and checks the types of its arguments. */
export function operationTool<A extends Fields>(definition: OperationTool<A>): OperationTool {
  return definition as unknown as OperationTool;
}

/** Makes a tool of operations one that can be offered. */
export function offered(tool: OperationTool, operations: Operations): InboundTool {
  const { name, description, access, effect, args: schema } = tool;
  return {
    ...{ name, description, access, effect },
    inputSchema: JSON.parse(JSON.stringify(schema)) as Record<string, unknown>,
    run: (caller, args, signal, request) =>
      tool.run(operations, args as Static<Fields>, { caller, signal, request }),
  };
}

/** The arguments of a tool: nothing else is taken. */
export function args<const P extends TProperties>(properties: P) {
  return t.Object(properties, { additionalProperties: false });
}

/** An argument that is text. */
export const text = (description: string) => t.String({ description });

/** An argument that is a whole number. */
export const whole = (description: string, minimum = 1) => t.Integer({ minimum, description });

/** An argument that maps names to texts. */
export const texts = (description: string) => t.Record(t.String(), t.String(), { description });

/** An argument that may be absent. */
export const optional = t.Optional;

/** The argument that names a sandbox. */
export const SANDBOX = text('Id or name of a sandbox.');
