import { failed, type Tool, type ToolSource } from '../tool.ts';

const askUser: Tool = {
  name: 'ask_user',
  description: 'Asks the user a question and waits for the answer.',
  parameters: {
    type: 'object',
    properties: {
      question: { type: 'string' },
      options: { type: 'array', items: { type: 'string' }, description: 'Answers to choose from.' },
    },
    required: ['question'],
    additionalProperties: false,
  },
  asks: true,
  run: () => Promise.resolve(failed('Nobody was asked.')),
};

/** The tool by which an agent asks who has begun its turn. */
export const askUserTools: ToolSource = {
  find: (_agent, name) => (name === askUser.name ? askUser : undefined),
};
