import type { ProxyConfig } from '../../../../src/api/functions/functions.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { isConstant, parseExpression } from '../mapping/expression.ts';
import { parsePlace } from '../mapping/place.ts';
import { parseUrlPath } from '../mapping/url-path.ts';
import { checkEntries, checkHeaders, hasBody, type Method, readMethod, readUrl } from './checks.ts';
import { hide, refuseMoved, reveal, secretHeader, secretParameter } from './hidden.ts';

type Mapping = Readonly<Record<string, string>>;

/** A proxy function: a mapped call of another API. */
export interface MappedCall {
  /** Without a slash at its end, and without a query. */
  readonly baseUrl: string;
  readonly path: string;
  readonly method: Method;
  /** Name of a parameter, and an expression over the arguments. */
  readonly queryMapping: Mapping;
  readonly headerMapping: Mapping;
  /** Place in the body, and an expression over the arguments. */
  readonly bodyMapping: Mapping;
  /** Place in the result, and an expression over what was answered; all of it when empty. */
  readonly responseMapping: Mapping;
}

type Sent = Value<typeof ProxyConfig>;

/** A proxy as it was sent, over what was there before. Errors: invalid_argument naming the field. */
export function readProxy(sent: Sent, earlier: MappedCall | undefined): MappedCall {
  const baseUrl = readBase(sent.baseUrl ?? earlier?.baseUrl ?? '');
  const query = reveal(sent.queryMapping, earlier?.queryMapping ?? {}, secretParameter, 'proxy.queryMapping');
  const headers = reveal(
    sent.headerMapping,
    earlier?.headerMapping ?? {},
    secretHeader,
    'proxy.headerMapping',
  );
  refuseMoved(earlier?.baseUrl, baseUrl, query.keepsSecrets || headers.keepsSecrets, 'proxy.baseUrl');
  const proxy: MappedCall = {
    baseUrl,
    path: sent.path ?? earlier?.path ?? '',
    method: readMethod(sent.method || earlier?.method || 'GET', 'proxy.method'),
    queryMapping: query.values,
    headerMapping: headers.values,
    bodyMapping: sent.bodyMapping ?? earlier?.bodyMapping ?? {},
    responseMapping: sent.responseMapping ?? earlier?.responseMapping ?? {},
  };
  checkMappings(proxy);
  return proxy;
}

/** A proxy as it is shown. */
export function showProxy(proxy: MappedCall): Sent {
  return {
    ...proxy,
    queryMapping: hide(proxy.queryMapping, secretParameter),
    headerMapping: hide(proxy.headerMapping, secretHeader),
    bodyMapping: { ...proxy.bodyMapping },
    responseMapping: { ...proxy.responseMapping },
  };
}

function readBase(text: string): string {
  const url = readUrl(text, 'proxy.baseUrl');
  if (/[?]/.test(url))
    throw invalid({ field: 'proxy.baseUrl', description: 'has a query; use queryMapping' });
  return url.replace(/\/+$/, '');
}

function checkMappings({
  path,
  method,
  queryMapping,
  headerMapping,
  bodyMapping,
  responseMapping,
}: MappedCall): void {
  const read = parseUrlPath(path);
  if (typeof read === 'string') throw invalid({ field: 'proxy.path', description: read });
  checkEntries(queryMapping, 'proxy.queryMapping');
  checkExpressions(queryMapping, 'proxy.queryMapping');
  checkHeaders(headerMapping, 'proxy.headerMapping');
  checkExpressions(headerMapping, 'proxy.headerMapping');
  checkPlaces(bodyMapping, 'proxy.bodyMapping');
  if (Object.keys(bodyMapping).length > 0 && !hasBody(method))
    throw invalid({ field: 'proxy.bodyMapping', description: `goes with a body, which ${method} has not` });
  checkPlaces(responseMapping, 'proxy.responseMapping');
  const fixed = Object.entries(responseMapping).find(([, text]) => {
    const expression = parseExpression(text);
    return typeof expression === 'object' && isConstant(expression);
  });
  if (fixed)
    throw invalid({
      field: `proxy.responseMapping.${fixed[0]}`,
      description: `takes nothing of the answer; write $.${fixed[1] || 'name'}`,
    });
}

function checkPlaces(mapping: Mapping, field: string): void {
  checkEntries(mapping, field);
  checkExpressions(mapping, field);
  for (const name of Object.keys(mapping)) {
    const place = parsePlace(name);
    if (typeof place === 'string') throw invalid({ field: `${field}.${name}`, description: place });
  }
}

function checkExpressions(mapping: Mapping, field: string): void {
  for (const [name, text] of Object.entries(mapping)) {
    const read = parseExpression(text);
    if (typeof read === 'string') throw invalid({ field: `${field}.${name}`, description: read });
  }
}
