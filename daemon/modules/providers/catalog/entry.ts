import type { Dialect } from '../account.ts';

/** What a provider may be able to do. */
export const CAPABILITIES = [
  'chat',
  'completions',
  'embeddings',
  'functionCalling',
  'vision',
  'streaming',
  'fineTuning',
  'assistants',
] as const;

/** One of them. */
export type Capability = (typeof CAPABILITIES)[number];

/** Models of one kind. What they cost and how much they take is in the data set. */
export interface Family {
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  /** Of the names of its models. */
  readonly pattern: RegExp;
}

/** Variables of the environment, strongest first, under the names that the provider's own SDK gives them. */
export interface EntryVariables {
  readonly key?: readonly string[];
  readonly baseUrl?: readonly string[];
  readonly settings?: Readonly<Record<string, readonly string[]>>;
}

/** What is known of a provider before anybody sets it up. */
export interface CatalogEntry {
  /** The first part of its models' full names. */
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly dialect: Dialect;
  /** As account.ts has it, with `{setting}` where a setting stands; empty when it is each customer's own. */
  readonly baseUrl: string;
  readonly apiVersion: string;
  readonly capabilities: readonly Capability[];
  readonly variables: EntryVariables;
  /** Without a key it answers nobody. */
  readonly needsKey: boolean;
  /** `meta` brings many makers' models together. */
  readonly type: 'static' | 'meta';
  /** Where its models are listed, under the base URL; empty when they cannot be. */
  readonly modelsPath: string;
  readonly families: readonly Family[];
}
