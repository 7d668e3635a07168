/**
 * The one way out to registries, in the shape of the web's fetch. Redirects need not be followed: the client
 * does that itself, so that no credential goes to another host.
 */
export type ImageFetch = (
  url: string,
  init?: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal },
) => Promise<Response>;
