import { fail } from '../../../../src/errors/app-error.ts';

/** The longest text that a tool answers, in bytes. */
export const MOST_TEXT = 1024 * 1024;

/** The text of an answer. Errors: failed_precondition when it is too long, or no text. */
export async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let size = 0;
  let text = '';
  try {
    for await (const part of response.body ?? []) {
      size += part.byteLength;
      if (size > MOST_TEXT) break;
      text += decoder.decode(part, { stream: true });
    }
    if (size <= MOST_TEXT) return text + decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw fail('failed_precondition', { message: 'The file is not text.' });
    throw error;
  }
  throw fail('failed_precondition', {
    message: `The file has more than ${MOST_TEXT} bytes; read some of its lines with offset and limit.`,
  });
}
