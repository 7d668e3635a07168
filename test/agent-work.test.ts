import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { AgentClient, callsOf, type Event, script, type Told } from './support/agent-client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, run, until } from './support/scene.ts';
import { type ScriptedModel, startScriptedModel } from './support/scripted-model/index.ts';

setDefaultTimeout(120_000);

const find = (told: readonly Told[], type: string): Event | undefined =>
  told.find(({ result }) => result?.type === type)?.result;
const outputOf = (told: readonly Told[]) => find(told, 'turn.end')?.turn?.assistantOutput;
const typesOf = (told: readonly Told[]) => told.map(({ result }) => result?.type);

const call = (tool: string, args: object) => `call ${tool} ${JSON.stringify(args)}`;
const shell = (command: string, more: object = {}) => call('sandbox_shell', { command, ...more });

describe.each(driverCases)('an agent that works ($name)', ({ env }) => {
  let model: ScriptedModel;
  let daemon: TestDaemon;
  let agents: AgentClient;
  let working: string;

  const start = (more: object = {}) => startDaemon({ env: { ...env, ...model.env }, ...more });
  const restart = async () => {
    const { dataDir, apiKey } = daemon;
    await daemon.kill9();
    daemon = await start({ dataDir, apiKey });
  };

  beforeAll(async () => {
    model = await startScriptedModel();
    daemon = await start();
    agents = new AgentClient(() => daemon.url, daemon.apiKey);
    working = await agents.agent({
      tools: [
        'sandbox_shell',
        'sandbox_write_file',
        'sandbox_read_file',
        'sandbox_edit',
        'sandbox_list_files',
      ],
    });
  });

  afterAll(async () => {
    await agents?.removeSandboxes();
    await daemon?.stop();
    const seen = await model?.seen();
    await model?.stop();
    expect(seen?.violations.map(({ reason }) => reason)).toEqual([]);
  });

  test('writes a program, runs it, is denied what it may not, adapts, remembers, and recalls in another session', async () => {
    const agentId = await agents.agent({
      tools: ['sandbox_write_file', 'sandbox_execute', 'sandbox_shell', 'memory_store', 'memory_query'],
      config: { approval: { tools: ['sandbox_shell'] } },
      memoryConfig: { enabled: true, scope: 'agent', autoRetrieve: true, autoRetrieveTopK: 3 },
    });
    const first = await agents.session(agentId);
    const told = agents.told(
      first,
      script(
        'demo',
        call('sandbox_write_file', { path: 'sum.sh', content: 'echo $(( $1 + $2 ))\n' }),
        call('sandbox_execute', { language: 'bash', code: 'sh sum.sh 19 23' }),
        'expect /exit code 0.*\\b42\\b/',
        shell('rm -rf sum.sh'),
        'expect /Denied: .*keep it/',
        `if /Denied/ ${call('sandbox_execute', { language: 'bash', code: 'mv sum.sh sum.old; ls' })}`,
        'expect /sum\\.old/',
        call('memory_store', { content: 'The sum of the user is 42.', factKey: 'sum' }),
        'say It is 42, and I kept the file.',
      ),
    );
    const review = await until(async () => {
      const { body } = await agents.ask<{
        reviews?: Array<{ id: string; toolCalls: Array<{ toolArgs: string }> }>;
      }>('GET', `/v1/agents/reviews?sessionId=${first}&status=APPROVAL_REVIEW_STATUS_PENDING`);
      return body.reviews?.[0];
    }, 60_000);
    expect(review.toolCalls[0]?.toolArgs).toBe('{"command":"rm -rf sum.sh"}');
    const denial = { action: 'APPROVAL_ACTION_DENY', reason: 'keep it' };
    await agents.ask('POST', `/v1/agents/reviews/${review.id}/submit`, denial);
    expect(outputOf(await told)).toBe('It is 42, and I kept the file.');
    const second = await agents.session(agentId);
    const { body } = await agents.turn(
      second,
      script('demo-2', '# What was the sum of the user?', 'system /sum of the user is 42/', 'say 42'),
    );
    expect(body.turn?.assistantOutput).toBe('42');
  });

  test('has one sandbox in a session, made when it is first needed, and tells of it', async () => {
    const sessionId = await agents.session(working);
    const told = await agents.told(
      sessionId,
      script(
        'box',
        shell('echo one > a; exit 3'),
        'expect /exit code 3/',
        shell('cat a'),
        'expect /\\bone\\b/',
        'say ok',
      ),
    );
    expect(typesOf(told).filter((type) => type?.startsWith('sandbox.'))).toEqual([
      'sandbox.create',
      'sandbox.ready',
      'sandbox.exec',
      'sandbox.result',
      'sandbox.exec',
      'sandbox.result',
    ]);
    const sandboxId = find(told, 'sandbox.ready')?.sandboxId ?? '';
    expect(find(told, 'sandbox.result')).toMatchObject({
      sandboxId,
      sandboxExitCode: 3,
      sandboxDurationMs: expect.stringMatching(/^\d+$/),
    });
    expect((await run(clientOf(daemon), sandboxId, 'cat a')).stdout).toBe('one\n');
    const again = await agents.told(
      sessionId,
      script('box2', shell('cat a'), 'expect /\\bone\\b/', 'say ok'),
    );
    expect(typesOf(again)).not.toContain('sandbox.create');
  });

  test('reads and edits what it has written', async () => {
    const told = await agents.told(
      await agents.session(working),
      script(
        'edit',
        call('sandbox_write_file', { path: 'notes.txt', content: 'red\ngreen\n' }),
        call('sandbox_edit', { path: 'notes.txt', oldText: 'green', newText: 'blue' }),
        call('sandbox_read_file', { path: 'notes.txt' }),
        'expect /red.*blue/',
        call('sandbox_list_files', { path: '.' }),
        'expect /notes\\.txt/',
        call('sandbox_read_file', { path: 'missing.txt' }),
        'expect /missing\\.txt/',
        'say ok',
      ),
    );
    expect(callsOf(find(told, 'turn.end')?.turn).map(({ success }) => success)).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  test('has its command killed by a cancel', async () => {
    const sessionId = await agents.session(working);
    const told = agents.told(sessionId, script('long', shell('echo $$ > pid; sleep 60; echo late > late')));
    await until(async () => {
      const { body } = await agents.ask<{ events: Array<{ event: Event }> }>(
        'GET',
        `/v1/agents/sessions/${sessionId}/events`,
      );
      return body.events.some(({ event }) => event.type === 'sandbox.exec');
    });
    await Bun.sleep(1_000);
    await agents.act(sessionId, 'cancel');
    const sandboxId = find(await told, 'sandbox.ready')?.sandboxId ?? '';
    await until(async () => {
      const { code } = await run(clientOf(daemon), sandboxId, 'kill -0 $(cat pid)').catch(() => ({
        code: 1,
      }));
      return code !== 0;
    });
  });

  test('goes on after a kill of the daemon with the command that was running, which ran once', async () => {
    const sessionId = await agents.session(working);
    const cut = agents
      .told(
        sessionId,
        script(
          'cut',
          shell('echo begun >> log; sleep 4; echo ended >> log; echo the result'),
          'expect /exit code 0.*the result/',
          shell('cat log'),
          'expect /begun\\nended\\n*$/',
          'say ok',
        ),
      )
      .catch(() => 'cut');
    const sandboxId = await until(async () => {
      const { body } = await agents.ask<{ events: Array<{ event: Event }> }>(
        'GET',
        `/v1/agents/sessions/${sessionId}/events`,
      );
      return body.events.find(({ event }) => event.type === 'sandbox.exec')?.event.sandboxId;
    }, 30_000);
    await until(async () => (await run(clientOf(daemon), sandboxId, 'cat log')).stdout === 'begun\n');
    await restart();
    await cut;
    const told = await agents.told(sessionId, '', { lastEventId: '0' });
    expect(outputOf(told)).toBe('ok');
    expect(typesOf(told).filter((type) => type === 'approval.requested')).toEqual([]);
    expect((await run(clientOf(daemon), sandboxId, 'cat log')).stdout).toBe('begun\nended\n');
  });

  test('gets the head and the tail of what is too long, and the rest is kept', async () => {
    const sessionId = await agents.session(working);
    const told = await agents.told(
      sessionId,
      script(
        'large',
        shell('echo first; i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo last'),
        'expect /first.*last/',
        'reject /line 10000\\n/',
        'say ok',
      ),
    );
    expect(outputOf(told)).toBe('ok');
    const { body } = await agents.ask<{ artifacts: Array<{ id: string }> }>(
      'GET',
      `/v1/agents/sessions/${sessionId}/artifacts`,
    );
    expect(body.artifacts).toHaveLength(1);
    const whole = await daemon.fetch(`/v1/agents/sessions/${sessionId}/artifacts/${body.artifacts[0]?.id}`);
    expect(await whole.text()).toContain('line 10000\n');
  });
});
