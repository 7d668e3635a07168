/** The longest that nobody answers, whatever happens to the daemon. */
export const QUIET_MS = 60_000;

/** Does something again while nobody answers. */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + QUIET_MS; ; ) {
    try {
      return await work();
    } catch (error) {
      if (!isCut(error) || Date.now() > end) throw error;
      await Bun.sleep(20);
    }
  }
}

/** Whether the daemon was killed meanwhile: the connection was refused, or broke. */
export function isCut(error: unknown): boolean {
  const { code = '', name = '', message = '' } = error as { code?: string; name?: string; message?: string };
  return (
    /ECONN|ConnectionRefused|ConnectionClosed|FailedToOpenSocket|EPIPE/.test(`${code} ${name} ${message}`) ||
    /socket|Unable to connect|terminated|closed/i.test(message)
  );
}
