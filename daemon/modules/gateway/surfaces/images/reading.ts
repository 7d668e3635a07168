import type { RelayRequest } from '../../upstream/adapter.ts';
import type { Usage } from '../../wire/usage.ts';
import { usageIn } from '../../wire/usage-object.ts';
import type { RawReading } from '../raw-answer.ts';

const PICTURE = /"(?:b64_json|url)"\s*:\s*"/g;

/** Pictures are counted, and their tokens where the provider tells them. */
export const imageReading: RawReading<RelayRequest> = {
  took(text, { stream, n }): Usage {
    const tokens = usageIn(text);
    const images = stream ? Number(n ?? 1) || 1 : (text.match(PICTURE)?.length ?? 0);
    return { input: 0, output: 0, ...tokens, images };
  },
};
