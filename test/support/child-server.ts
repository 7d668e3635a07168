/** A server of a test in a process of its own. It says where it is, and later what happened, as lines of JSON. */
export interface ChildServer<Event> {
  readonly port: number;
  /** The next thing that it says, in order. */
  next(): Promise<Event>;
  stop(): Promise<void>;
}

/** Starts a script of this folder and waits for its first line, `{port}`. */
export async function startChild<Event>(
  script: string,
  args: readonly string[],
): Promise<ChildServer<Event>> {
  const child = Bun.spawn([process.execPath, script, ...args], { stdout: 'pipe', stderr: 'pipe' });
  const said: Event[] = [];
  const waiting: Array<(event: Event) => void> = [];
  const ready = Promise.withResolvers<number>();
  const reading = (async () => {
    for await (const line of linesOf(child.stdout)) {
      // Libraries print warnings of their own.
      if (!line.startsWith('{')) continue;
      const event = JSON.parse(line) as Event & { port?: number };
      if (event.port !== undefined) ready.resolve(event.port);
      else (waiting.shift() ?? ((late) => said.push(late)))(event);
    }
    ready.reject(new Error(`${script} ended: ${await new Response(child.stderr).text()}`));
  })();
  const port = await ready.promise;
  return {
    port,
    async next() {
      return said.shift() ?? new Promise((resolve) => waiting.push(resolve));
    },
    async stop() {
      child.kill();
      await child.exited;
      await reading;
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncIterable<string> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
