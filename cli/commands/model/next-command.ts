import { KINDS } from './ask.ts';

/** The command that helps after a call of a model has failed, by the code and the words of the error. */
export function nextCommand(code: string, message: string, model: string): string {
  const slash = model.indexOf('/');
  const provider = slash > 0 ? model.slice(0, slash) : undefined;
  if (code === 'model_not_found') return `svc model list${provider ? ` --provider ${provider}` : ''}`;
  if (code === 'not_offered') return `svc model test ${model} --as ${KINDS.join('|')}`;
  if (code === 'budget_spent') return 'svc budget list';
  if (!provider) return 'svc model route list';
  return /\bkey\b/.test(message)
    ? `svc provider add ${provider} --key-stdin`
    : `svc provider test ${provider}`;
}
