/**
 * The runtime sends no more than this many HTTP requests at once, and lets others wait without a word. It reads the
 * number from its environment when it starts, is content with 256 by itself, and takes 65535 at most.
 */
export const CROWD_ENV = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' } as const;
