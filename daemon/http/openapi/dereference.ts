import type { OpenApiDocument } from './document.ts';
import type { Json } from './schema.ts';

/** The same document without references. Its schemas must not contain themselves. */
export function dereference(document: OpenApiDocument): OpenApiDocument {
  const { securitySchemes } = document.components;
  const resolved = resolve(document, document) as OpenApiDocument;
  return { ...resolved, components: { securitySchemes } };
}

function resolve(value: unknown, document: OpenApiDocument): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, document));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref } = value as Json;
  if (typeof $ref === 'string') return resolve(target($ref, document), document);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner, document)]));
}

function target(ref: string, document: OpenApiDocument): unknown {
  return ref
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((found, key) => (found as Json)[key], document);
}
