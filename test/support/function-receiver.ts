import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { type ChildServer, startChild } from './child-server.ts';

/** A request that came. */
export interface ReceivedCall {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Starts an endpoint in a process of its own, whose path says how it answers. */
export function startFunctionReceiver(): Promise<ChildServer<ReceivedCall>> {
  return startChild<ReceivedCall>(import.meta.path, []);
}

if (import.meta.main) {
  const seen = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    const { method, url: target = '', headers } = request;
    process.stdout.write(`${JSON.stringify({ method, target, headers, body })}\n`);
    const { pathname } = new URL(target, 'http://here');
    const count = (seen.get(pathname) ?? 0) + 1;
    seen.set(pathname, count);
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const [, how, argument] = pathname.split('/');
    if (how === 'slow') return;
    if (how === 'fails') return void json(Number(argument), { why: 'as asked' });
    if (how === 'recovers' && count <= Number(argument)) return void json(503, { why: 'not yet' });
    if (how === 'moves') return void response.writeHead(302, { location: '/echo' }).end();
    if (how === 'large') return void response.end('x'.repeat(2_000_000));
    if (how === 'broken')
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{');
    if (how === 'text') return void response.end('plain words');
    if (how === 'bytes') return void response.end(createHash('sha256').update('x').digest());
    json(200, { count, data: { city: { name: 'Oslo' }, days: [{ t: 1 }, { t: 2 }] }, got: body });
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object') process.stdout.write(`${JSON.stringify({ port: address?.port })}\n`);
  });
}
