import type { Endpoint, SpecName } from '../../src/api/endpoint.ts';
import { operations, operationsOf } from '../../src/api/index.ts';
import { sharedNames } from './openapi/collisions.ts';
import { dereference } from './openapi/dereference.ts';
import { type OpenApiDocument, writeDocument } from './openapi/document.ts';

let index: OpenApiDocument | undefined;
const documents = new Map<SpecName, OpenApiDocument>();

/** All that the instance serves: every specification, and what stands beside them. Made once. */
export function indexDocument(): OpenApiDocument {
  index ??= writeDocument({
    ...sharedNames(operations),
    title: 'svc',
    description: 'LLM gateway, agents and isolated sandboxes: everything that this instance serves.',
    operations,
    aliases: true,
  });
  return index;
}

/** One of the 13 specifications. Made once. */
export function specDocument(spec: SpecName): OpenApiDocument {
  const made = documents.get(spec) ?? writeSpec(spec);
  documents.set(spec, made);
  return made;
}

/** `compat-agents-rest` is its source with every reference resolved; the others keep theirs. */
function writeSpec(spec: SpecName): OpenApiDocument {
  const document = writeDocument({
    title: `svc: ${spec}`,
    description: `The specification ${spec} of svc, one of 13.`,
    operations: operationsOf(spec),
    operationId: ({ id }: Endpoint) => id,
    nameOf: ({ $id = '' }) => $id,
  });
  return spec === 'compat-agents-rest' ? dereference(document) : document;
}
