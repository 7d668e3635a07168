import { AppError, type FieldViolation } from '../../../../src/errors/app-error.ts';
import { parseNested } from '../../../../src/kit/nesting.ts';
import { type ArgumentSchema, argumentSchema } from '../../../json-schema/argument-schema.ts';
import type { ChatTool } from '../../gateway/index.ts';
import type { Agent } from '../definitions/agent.ts';
import type { JsonObject, Tool, ToolSource } from '../tools/tool.ts';

/** The arguments of a call, or what is wrong with them. */
export type ReadArguments = { readonly args: JsonObject } | { readonly problem: string };

/** Schemas of the tools that are part of svc, compiled once. Those of tenants go with the turn that has read them. */
const compiled = new WeakMap<JsonObject, ArgumentSchema>();

/** The tools of an agent for one turn, found once and told to the model by name. */
export class Toolbox {
  private readonly tools = new Map<string, Tool>();
  /** The tools in the words of the model, and the length of that as JSON text. */
  readonly told: readonly ChatTool[];
  readonly toldLength: number;

  constructor(sources: readonly ToolSource[], agent: Agent, names: readonly string[]) {
    for (const name of names) {
      const tool = found(sources, agent, name);
      if (tool) this.tools.set(name, tool);
    }
    this.told = [...this.tools.values()].map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    }));
    this.toldLength = JSON.stringify(this.told).length;
  }

  find(name: string): Tool | undefined {
    return this.tools.get(name);
  }

  get names(): readonly string[] {
    return [...this.tools.keys()];
  }

  /** Reads arguments and checks them against the tool's schema. */
  read(tool: Tool, text: string): ReadArguments {
    const args = parsed(text);
    if (!args) return { problem: 'The arguments are no JSON object.' };
    try {
      const violations = schemaOf(tool).check(args, 'arguments');
      return violations.length === 0 ? { args } : { problem: words(violations) };
    } catch (error) {
      if (error instanceof AppError)
        return { problem: `The schema of ${tool.name} is wrong: ${error.message}` };
      throw error;
    }
  }
}

function schemaOf({ parameters }: Tool): ArgumentSchema {
  const schema = compiled.get(parameters) ?? argumentSchema(parameters, 'parameters');
  compiled.set(parameters, schema);
  return schema;
}

function found(sources: readonly ToolSource[], agent: Agent, name: string): Tool | undefined {
  for (const source of sources) {
    const tool = source.find(agent, name);
    if (tool) return tool;
  }
  return undefined;
}

/** Models send nothing at all where a tool has no arguments. What is nested too deeply to be written again is refused. */
function parsed(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  try {
    const value = parseNested(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

function words(violations: readonly FieldViolation[]): string {
  return violations.map(({ field, description }) => `${field} ${description}`).join('; ');
}
