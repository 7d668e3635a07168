/**
 * The one way out to registries, in the shape of the web's fetch. Redirects are answered as they are: the client
 * follows them itself, so that no credential goes to another host.
 */
export type ImageFetch = (
  url: string,
  init?: {
    readonly headers?: Record<string, string>;
    readonly signal?: AbortSignal;
    readonly redirect?: 'manual';
  },
) => Promise<Response>;
