import { join } from 'node:path';

/** A listener with nothing in it, in a process of its own. */
export interface BareServer {
  readonly pid: number;
  readonly port: number;
  end(): void;
}

/** Starts a listener that gives these answers, by path; resolves when it listens. */
export async function startBareServer(answers: Readonly<Record<string, unknown>>): Promise<BareServer> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, '../bare-listener.ts')], {
    stdin: new Blob([JSON.stringify(answers)]),
    stdout: 'pipe',
  });
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  if (!port) throw new Error('the bare listener does not start');
  return { pid: child.pid, port, end: () => child.kill() };
}
