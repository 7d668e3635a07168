import { shellLine } from '../../quote.ts';
import type { DescribedRequest } from './request.ts';

/** The same request for curl, with the key left to the environment. */
export function curlLine(baseUrl: string, { method, path, headers, body }: DescribedRequest): string {
  const plain = shellLine([
    'curl',
    '-sS',
    ...(method === 'GET' ? [] : ['-X', method]),
    `${baseUrl}${path}`,
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...(body === undefined ? [] : ['-d', body]),
  ]);
  const credential = path.startsWith('/compat/') ? 'authorization: Bearer' : 'x-svc-api-key:';
  return `${plain} -H "${credential} $SVC_API_KEY"`;
}
