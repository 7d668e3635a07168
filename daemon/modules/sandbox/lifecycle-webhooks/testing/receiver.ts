import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A receiver in a process of its own: `<port, 0 for any> <faulty | healthy>`. A faulty one is in trouble at the
 * first sight of some deliveries: it answers 500, or too late, or hangs up. Says as JSON what it has accepted.
 */
const [port = '0', mood = 'healthy'] = process.argv.slice(2);
const seen = new Set<string>();
const FAULTS = ['refuse', 'refuse', 'hang up', 'hang up', 'late'] as const;
const FAULTY_SHARE = 0.25;
const LATE_MS = 1_000;

const server = createServer(async (request, response) => {
  const id = String(request.headers['webhook-id']);
  const body = await textOf(request);
  const isTroubled = mood === 'faulty' && !seen.has(id) && Math.random() < FAULTY_SHARE;
  seen.add(id);
  const fault = isTroubled ? FAULTS[Math.floor(Math.random() * FAULTS.length)] : undefined;
  if (fault === 'hang up') request.socket.destroy();
  else if (fault === 'refuse') answer(response, 500);
  else {
    if (fault === 'late') await Bun.sleep(LATE_MS);
    console.log(JSON.stringify({ accepted: id, body, signature: request.headers['x-svc-signature'] }));
    answer(response, 200);
  }
});
server.listen(Number(port), '127.0.0.1', () =>
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port })),
);

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
