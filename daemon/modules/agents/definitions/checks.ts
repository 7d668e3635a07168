import type { FieldViolation } from '../../../../src/errors/app-error.ts';
import type { Definition } from './definition.ts';

/** What may be in a list of tools. */
export const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

const MOST_TOOLS = 256;
const MOST_TOP_K = 100;
const COLOR = /^(#([0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})|[a-z]{3,32})$/i;
const ALIAS = /^[A-Za-z0-9_-]{1,64}$/;
const CONTROL = /\p{Cc}/u;

/** Characters that texts have at most. */
const MOST_CHARACTERS = {
  name: 128,
  description: 4_096,
  model: 256,
  systemPrompt: 200_000,
  workingDirectory: 4_096,
} as const;

/** What is wrong with a definition, by the names of its fields on the wire. */
export function violationsOf(definition: Definition): FieldViolation[] {
  return [
    ...nameViolations(definition),
    ...textViolations(definition),
    ...toolViolations(definition.tools),
    ...limitViolations(definition),
  ];
}

function nameViolations({ name, model, mentionAlias, color }: Definition): FieldViolation[] {
  return [
    ...when(name === '', 'name', 'must not be empty'),
    ...when(name !== name.trim(), 'name', 'must not begin or end with a blank'),
    ...when(name.startsWith('agt_'), 'name', 'must not begin with agt_, which marks ids'),
    ...when(!name.isWellFormed(), 'name', 'must be Unicode text'),
    ...when(model.trim() === '', 'model', 'must not be empty'),
    ...when(
      mentionAlias !== '' && (!ALIAS.test(mentionAlias) || mentionAlias.startsWith('agt_')),
      'mentionAlias',
      'must be 1 to 64 letters, digits, dashes or underscores, and must not begin with agt_',
    ),
    ...when(
      color !== '' && !COLOR.test(color),
      'color',
      'must be #rgb, #rrggbb, #rrggbbaa or a name such as teal',
    ),
  ];
}

function textViolations(definition: Definition): FieldViolation[] {
  const names = Object.keys(MOST_CHARACTERS) as Array<keyof typeof MOST_CHARACTERS>;
  const tooLong = names.flatMap((name) =>
    when(
      definition[name].length > MOST_CHARACTERS[name],
      name,
      `must be at most ${MOST_CHARACTERS[name]} characters`,
    ),
  );
  const inOneLine = (['name', 'model', 'workingDirectory'] as const).flatMap((name) =>
    when(CONTROL.test(definition[name]), name, 'must not have control characters'),
  );
  return [...tooLong, ...inOneLine];
}

function toolViolations(tools: readonly string[]): FieldViolation[] {
  if (tools.length > MOST_TOOLS)
    return [{ field: 'tools', description: `must be at most ${MOST_TOOLS} names` }];
  const seen = new Set<string>();
  return tools.flatMap((tool, i) => {
    const isTwice = seen.has(tool);
    seen.add(tool);
    return [
      ...when(
        !TOOL_NAME.test(tool),
        `tools.${i}`,
        'must be 1 to 128 letters, digits, dots, dashes or underscores: tools are named exactly',
      ),
      ...when(isTwice, `tools.${i}`, `${JSON.stringify(tool)} is there twice`),
    ];
  });
}

function limitViolations(definition: Definition): FieldViolation[] {
  const limits = (['maxTurns', 'maxToolCallsPerTurn', 'maxSteps'] as const).flatMap((name) =>
    when(definition[name] < 0, name, 'must not be below 0; 0 is the limit of the instance'),
  );
  const { autoRetrieveTopK } = definition.memory;
  const isOutside = autoRetrieveTopK < 1 || autoRetrieveTopK > MOST_TOP_K;
  return [
    ...limits,
    ...when(isOutside, 'memoryConfig.autoRetrieveTopK', `must be between 1 and ${MOST_TOP_K}`),
  ];
}

function when(isWrong: boolean, field: string, description: string): FieldViolation[] {
  return isWrong ? [{ field, description }] : [];
}
