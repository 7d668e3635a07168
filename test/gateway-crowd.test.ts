import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Socket } from 'bun';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { until } from './support/scene.ts';
import { startUpstream, type TestUpstream } from './support/upstream.ts';

/** More than the 256 requests that the runtime sends at once by itself. */
const CALLERS = 400;

setDefaultTimeout(60_000);

let upstream: TestUpstream;
let daemon: TestDaemon;

beforeAll(async () => {
  upstream = await startUpstream();
  const env = { OPENAI_BASE_URL: upstream.url, OPENAI_API_KEY: upstream.apiKey, SVC_LOG_LEVEL: 'warn' };
  daemon = await startDaemon({ env });
});

afterAll(async () => {
  await daemon?.stop();
  await upstream?.stop();
});

/** Asks over a socket of its own: `fetch` in this process has the same bound. */
function ask(model: string): Promise<Socket> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] });
  const { host, port } = new URL(daemon.url);
  const request = [
    'POST /compat/v1/chat/completions HTTP/1.1',
    `host: ${host}`,
    `authorization: Bearer ${daemon.apiKey}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
  const socket = { open: (opened: Socket) => void opened.write(request), data() {} };
  return Bun.connect({ hostname: '127.0.0.1', port: Number(port), socket });
}

test(`${CALLERS} calls of slow models are under way at once, and nobody else waits for them`, async () => {
  const crowd = await Promise.all(Array.from({ length: CALLERS }, () => ask('openai/hangs')));
  await until(async () => (await upstream.seen()).count === CALLERS);
  const answer = await daemon.fetch('/compat/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai/gpt-test', messages: [{ role: 'user', content: 'one two' }] }),
  });
  expect(await answer.text()).toContain('two one');
  for (const socket of crowd) socket.end();
  await until(async () => (await upstream.seen()).left === CALLERS);
});
