import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentClient, script } from './support/agent-client.ts';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { type ScriptedModel, startScriptedModel } from './support/scripted-model/index.ts';

// Sandboxes are made in these tests, on machines that may be busy.
setDefaultTimeout(120_000);

const [driver] = driverCases;
const home = mkdtempSync(join(tmpdir(), 'svc-artifacts-'));
let model: ScriptedModel;
let daemon: TestDaemon;
let agents: AgentClient;

beforeAll(async () => {
  if (!driver) return;
  model = await startScriptedModel();
  daemon = await startDaemon({ env: { ...driver.env, ...model.env } });
  agents = new AgentClient(() => daemon.url, daemon.apiKey);
});
afterAll(async () => {
  await agents?.removeSandboxes();
  await daemon?.stop();
  await model?.stop();
  rmSync(home, { recursive: true, force: true });
});

async function svc(...argv: string[]) {
  const env = { PATH: process.env.PATH, HOME: home, SVC_API_URL: daemon.url, SVC_API_KEY: daemon.apiKey };
  const child = Bun.spawn([...svcCommand(), ...argv], {
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const read = (stream: ReadableStream<Uint8Array>) => new Response(stream).bytes();
  const [out, err] = await Promise.all([read(child.stdout), read(child.stderr)]);
  return { code: await child.exited, out: Buffer.from(out), err: Buffer.from(err).toString() };
}

test.skipIf(!driver)('what an agent hands over comes byte by byte to whoever asks for it', async () => {
  const agentId = await agents.agent({ tools: ['sandbox_shell', 'upload_artifact'] });
  const sessionId = await agents.session(agentId);
  await agents.turn(
    sessionId,
    script(
      'hands-over',
      `call sandbox_shell ${JSON.stringify({ command: 'i=0; while [ $i -lt 40000 ]; do printf "\\\\377\\\\000$i"; i=$((i+1)); done >report.bin; cksum <report.bin' })}`,
      'expect /exit code 0/',
      'call upload_artifact {"path":"report.bin"}',
      'expect /Kept as artifact art_/',
      'say ok',
    ),
  );
  const listed = await svc('session', 'artifacts', sessionId, '--json');
  const [artifact] = JSON.parse(listed.out.toString());
  expect(artifact).toMatchObject({ name: 'report.bin', kind: 'upload', sessionId });
  expect((await svc('session', 'artifacts', sessionId)).out.toString()).toStartWith(
    `${artifact.id}\treport.bin\tupload\t`,
  );
  const { out } = await svc('session', 'artifacts', sessionId, artifact.id);
  const expected = Buffer.concat(
    Array.from({ length: 40_000 }, (_, i) => Buffer.concat([Buffer.from([255, 0]), Buffer.from(String(i))])),
  );
  expect(out.equals(expected)).toBe(true);
  expect(Number(artifact.sizeBytes)).toBe(expected.length);
  const missing = await svc('session', 'artifacts', sessionId, 'art_missing');
  expect([missing.code, missing.err.includes('no artifact "art_missing"')]).toEqual([5, true]);
  expect((await svc('session', 'artifacts', 'ses_missing')).code).toBe(5);
});
