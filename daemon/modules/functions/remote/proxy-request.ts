import { invalid } from '../../../../src/errors/app-error.ts';
import { hasBody } from '../config/checks.ts';
import type { MappedCall } from '../config/proxy.ts';
import { evaluate, parseExpression, textOf } from '../mapping/expression.ts';
import { assemble, parsePlace } from '../mapping/place.ts';
import { fillUrlPath, parseUrlPath } from '../mapping/url-path.ts';
import type { RemoteRequest } from './exchange.ts';
import { addQuery } from './query.ts';
import { lowerCase } from './webhook-request.ts';

type Mapping = Readonly<Record<string, string>>;
type Arguments = Readonly<Record<string, unknown>>;

/**
 * The request of a proxy function. Where neither query nor body is mapped, the arguments that the path does not have go
 * into the body, or into the query where the method has no body. Errors: invalid_argument naming an argument that cannot
 * be where it is mapped to.
 */
export function proxyRequest(proxy: MappedCall, args: Arguments): RemoteRequest {
  const { baseUrl, method, queryMapping, bodyMapping } = proxy;
  const path = parseUrlPath(proxy.path);
  if (typeof path === 'string') throw invalid({ field: 'proxy.path', description: path });
  const isMapped = Object.keys(queryMapping).length + Object.keys(bodyMapping).length > 0;
  const rest = isMapped ? [] : Object.entries(args).filter(([name]) => !path.used.has(name));
  const query = [...evaluated(queryMapping, args), ...(hasBody(method) ? [] : rest)];
  const body = hasBody(method) ? bodyOf(proxy, args, rest) : undefined;
  return {
    url: addQuery(baseUrl + fillUrlPath(path, args), query),
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headersOf(proxy, args),
      'accept-encoding': 'identity',
    },
    body,
    field: 'proxy.baseUrl',
  };
}

/** What a proxy function answers: what was answered to it, or the parts of that which are mapped. */
export function proxyResult(
  { responseMapping }: Pick<MappedCall, 'responseMapping'>,
  answer: unknown,
): unknown {
  return Object.keys(responseMapping).length === 0 ? answer : placed(responseMapping, answer);
}

function bodyOf(
  { bodyMapping }: MappedCall,
  args: Arguments,
  rest: ReadonlyArray<readonly [string, unknown]>,
): string {
  const isMapped = Object.keys(bodyMapping).length > 0;
  return JSON.stringify(isMapped ? placed(bodyMapping, args) : Object.fromEntries(rest));
}

function headersOf({ headerMapping }: MappedCall, args: Arguments): Record<string, string> {
  const headers = evaluated(headerMapping, args).flatMap(([name, value]) => {
    const text = textOf(value);
    if (text !== undefined && !/^[\t\x20-\x7e\x80-\xff]*$/.test(text))
      throw invalid({ field: 'arguments', description: `have a character that the header ${name} cannot` });
    return text === undefined ? [] : [[name, text]];
  });
  return lowerCase(Object.fromEntries(headers));
}

function placed(mapping: Mapping, root: unknown): Record<string, unknown> {
  return assemble(
    evaluated(mapping, root).flatMap(([name, value]) => {
      const place = parsePlace(name);
      return typeof place === 'string' ? [] : [[place, value] as const];
    }),
  );
}

/** The values of a mapping; what is not there is left out. */
function evaluated(mapping: Mapping, root: unknown): Array<[string, unknown]> {
  return Object.entries(mapping).flatMap(([name, text]): Array<[string, unknown]> => {
    const expression = parseExpression(text);
    const value = typeof expression === 'string' ? undefined : evaluate(expression, root);
    return value === undefined ? [] : [[name, value]];
  });
}
