import type { Endpoint } from '../../../../../src/api/endpoint.ts';
import type { TSchema } from '../../../../../src/api/schema.ts';
import { LARGEST_BODY } from '../../../../http/body.ts';
import type { Call } from '../../../../http/route.ts';
import { type ModelCall, modelCall } from '../../pipeline/call.ts';
import type { JsonSurface } from '../../upstream/adapter.ts';
import { type FormRequest, formReader } from './form-request.ts';
import { readForm } from './read-form.ts';

/** An operation whose requests are forms. */
export interface FormOperation {
  readonly endpoint: Endpoint & { readonly body: TSchema };
  readonly surface: JsonSurface;
  readonly files: Readonly<Record<string, 'required' | 'optional'>>;
  readonly defaultModel?: string;
}

/** Answers a form; calls `over` when it is not needed any more. */
export type AnswersForms = (call: ModelCall<FormRequest>, over: () => void) => Promise<Response>;

/** The handler of an operation whose requests are forms. `directory` is where large files wait. */
export function formHandler(
  { endpoint, surface, ...shape }: FormOperation,
  directory: () => string,
  answer: AnswersForms,
): (call: Call) => Promise<Response> {
  const read = formReader({ ...shape, schema: endpoint.body });
  return async (call) => {
    const limits = { bodyLimit: endpoint.bodyLimit ?? LARGEST_BODY, directory: directory() };
    const { form, dispose } = await readForm(call.request, limits);
    let request: FormRequest;
    try {
      request = read(form);
    } catch (error) {
      dispose();
      throw error;
    }
    return answer(modelCall(surface, call, request), dispose);
  };
}
