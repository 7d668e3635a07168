/**
 * A listener with nothing in it: what a server on this runtime cannot go below. Its own process. Reads
 * `{path: answer}` as JSON from stdin, prints its port, answers each path, after reading the body when there is one.
 */
const answers = new Map(Object.entries((await Bun.stdin.json()) as Record<string, unknown>));

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    if (request.method === 'POST') await request.json();
    return Response.json(answers.get(new URL(request.url).pathname));
  },
});
console.log(server.port);

export {};
