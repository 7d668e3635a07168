/** A passthrough with nothing in it: what a gateway on this runtime cannot go below. Its own process; prints its port. */
const [upstream = '', apiKey = ''] = process.argv.slice(2);

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const response = await fetch(`${upstream}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: await request.text(),
      signal: request.signal,
      decompress: false,
    });
    return new Response(response.body, { status: response.status, headers: response.headers });
  },
});
console.log(server.port);
