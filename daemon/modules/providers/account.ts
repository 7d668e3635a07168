import type { Trust } from '../../outbound/outbound.ts';

/** The wire formats that an upstream may speak. What is alike is one: `openai` is the chat-completions family. */
export type Dialect =
  | 'openai'
  | 'azure'
  | 'anthropic'
  | 'gemini'
  | 'vertex'
  | 'bedrock'
  | 'cohere'
  | 'voyage'
  | 'jina'
  | 'local';

/** A key of a provider, opened. It is never logged, answered or written in the open. */
export interface ProviderKey {
  /** `pky_...`; `env`, `file` and `file.<name>` when the configuration has it. */
  readonly id: string;
  /**
   * What the dialect sends as a credential. bedrock: `<access key id>:<secret access key>[:<session token>]` or the JSON
   * that `aws sts` prints, or else a bearer key; vertex: the JSON of a service account, or else an access token.
   */
  readonly secret: string;
  /** The chance of being picked is its weight through the sum of all weights; at least 1. */
  readonly weight: number;
}

/** A provider as one tenant may call it: where it is, how it speaks, with which keys. Immutable. */
export interface ProviderAccount {
  /** The first part of a model's full name: `<name>/<model>`. */
  readonly name: string;
  readonly dialect: Dialect;
  /**
   * Without a slash at its end. What a dialect's paths are appended to:
   * openai `https://api.openai.com/v1`; azure `https://<resource>.openai.azure.com/openai/v1`, without `/v1` when there is
   * the setting `api_version`; anthropic `https://api.anthropic.com`; gemini
   * `https://generativelanguage.googleapis.com/v1beta`; vertex `https://<location>-aiplatform.googleapis.com/v1`; bedrock
   * `https://bedrock-runtime.<region>.amazonaws.com`; cohere `https://api.cohere.com`; voyage
   * `https://api.voyageai.com/v1`; jina `https://api.jina.ai/v1`; local: empty.
   */
  readonly baseUrl: string;
  /** How far `baseUrl` is trusted: the catalog's own and the owner's as `operator`, another tenant's as `tenant`. */
  readonly trust: Trust;
  /** The keys that may be picked. */
  readonly keys: readonly ProviderKey[];
  /** Without a key that may be picked, its calls fail. */
  readonly needsKey: boolean;
  /** The models that may be called; whatever the upstream has when absent. */
  readonly models?: readonly string[];
  /**
   * What the dialect needs besides (catalog/dialect-settings.ts). openai: `organization`, `project`; azure: `api_version`,
   * `deployment.<model>`; anthropic: `version`, `beta`; vertex: `project`, `location`; bedrock: `region`.
   */
  readonly settings: Readonly<Record<string, string>>;
}

/** Which providers a tenant has. Read for every call of a model, so it answers from memory. */
export interface ProviderDirectory {
  /** The same array until something changes. In order of preference: the tenant's own, then the instance's. */
  of(tenant: string): readonly ProviderAccount[];
  /** Notes that a provider has answered, for `lastUsedAt`; written later, in a batch. */
  used(tenant: string, provider: string): void;
}
