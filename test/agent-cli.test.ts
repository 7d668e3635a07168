import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runOnPty } from '../cli/testing/run-svc.ts';
import { shownBy } from '../cli/testing/screen.ts';
import { AgentClient, script } from './support/agent-client.ts';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { until } from './support/scene.ts';
import { type ScriptedModel, startScriptedModel } from './support/scripted-model/index.ts';
import { NO_SANDBOXES } from './support/tenants/two-tenants.ts';

setDefaultTimeout(30_000);

let model: ScriptedModel;
let daemon: TestDaemon;
let agents: AgentClient;
let home: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-test-agent-cli-'));
  model = await startScriptedModel();
  daemon = await startDaemon({ env: { ...NO_SANDBOXES, ...model.env } });
  agents = new AgentClient(() => daemon.url, daemon.apiKey);
  await agents.effect(model.effectUrl);
  const approval = { tools: ['effect'] };
  await agents.agent({ name: 'helper', tools: ['effect', 'ask_user'] });
  await agents.agent({ name: 'careful', tools: ['effect'], config: { approval } });
  await agents.agent({ name: 'boss', tools: ['spawn_agent'] });
  await agents.agent({
    name: 'worker',
    mode: 'AGENT_MODE_SUBAGENT',
    tools: ['effect'],
    config: { approval },
  });
});

afterAll(async () => {
  await daemon?.stop();
  const seen = await model?.seen();
  await model?.stop();
  rmSync(home, { recursive: true, force: true });
  expect(seen?.violations.map(({ reason }) => reason)).toEqual([]);
});

const environment = () => ({ HOME: home, SVC_API_URL: daemon.url, SVC_API_KEY: daemon.apiKey });

function spawn(argv: readonly string[], stdin = '') {
  return Bun.spawn([...svcCommand(), ...argv], {
    env: { PATH: process.env.PATH, ...environment() },
    stdin: new TextEncoder().encode(stdin),
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

async function svc(argv: readonly string[], stdin?: string) {
  const child = spawn(argv, stdin);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

/** A run on a terminal. `see` waits for a text after what was typed last. */
function onTerminal(line: string, env: Readonly<Record<string, string>> = {}) {
  const run = runOnPty(line, { ...environment(), SVC: svcCommand().join(' '), ...env });
  let from = 0;
  return {
    ...run,
    /** What a person sees in the end. */
    screen: () => shownBy(run.shown(), COLUMNS).rows.join('\n'),
    type(keys: string) {
      from = run.shown().length;
      run.type(keys);
    },
    /** Pastes a text as terminals do, and sends it. */
    paste(text: string) {
      from = run.shown().length;
      run.type(`\x1b[200~${text}\x1b[201~\r`);
    },
    see: (text: string) => until(() => Bun.stripANSI(run.shown().slice(from)).includes(text)),
  };
}

/** Of the terminals of `runOnPty`. */
const COLUMNS = 100;

const effect = (id: string, ms = 0) => `call effect {"id":"${id}","ms":${ms}}`;
const effectsOf = async (id: string) => (await model.effects()).filter((one) => one.id === id).length;
/** That a run ended so, and said this on stderr. */
function expectRan(ran: Awaited<ReturnType<typeof svc>>, code: number, words = ''): void {
  expect(ran.stderr).toContain(words);
  expect(ran.code).toBe(code);
}

const linesOf = (text: string) => text.trim().split('\n');

/** The newest session of an agent. */
const newest = async (agent: string) =>
  (await svc(['session', 'list', '--agent', agent, '--limit', '1'])).stdout.split('\t')[0] ?? '';

describe('a turn in a pipe', () => {
  test('is its answer alone', async () => {
    const input = script('pipe', 'think Looking.', effect('pipe'), 'expect /"count":1/', 'say Done,', '');
    expect(await svc(['session', 'run', 'helper', input])).toEqual({
      code: 0,
      stdout: 'Done,\n',
      stderr: '',
    });
    expect(await svc(['session', 'run', 'helper', '-'], script('stdin', 'say from stdin'))).toMatchObject({
      code: 0,
      stdout: 'from stdin\n',
    });
  });

  test('goes on with a session, and with the name of the agent as svc chat too', async () => {
    await svc(['session', 'run', 'helper', script('first', 'say one')]);
    const id = await newest('helper');
    const more = await svc(['chat', 'helper', '--session', id, script('second', 'say two')]);
    expect(more.stdout).toBe('two\n');
    const shown = (await svc(['session', 'show', id])).stdout;
    expect(shown).toMatch(/turns\t2\n/);
    expect(shown).toContain('  one\n');
    expect(shown).toContain('  two\n');
    const other = await svc(['session', 'run', 'careful', '--session', id, 'x']);
    expectRan(other, 2, 'not of careful');
  });

  test('as NDJSON is every event with its number', async () => {
    const { stdout } = await svc(['session', 'run', 'helper', '--json', script('json', 'say one two')]);
    const events = linesOf(stdout).map((line) => JSON.parse(line));
    expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => i + 1));
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'session.start',
        'turn.start',
        'llm.start',
        'llm.chunk',
        'llm.end',
        'turn.end',
      ]),
    );
    expect(events.map(({ textDelta = '' }) => textDelta).join('')).toBe('one two');
  });

  test('that fails ends with 1, and says how to look', async () => {
    const ran = await svc(['session', 'run', 'helper', script('fails', 'fail 400 9', 'say never')]);
    expectRan(ran, 1, 'svc session show ses_');
    expect(ran.stdout).toBe('');
  });

  test('that waits for leave ends with 6, and the session goes on when it is given', async () => {
    const input = script('leave', effect('leave'), 'expect /"count":1/', 'say done');
    const ran = await svc(['session', 'run', 'careful', input]);
    expectRan(ran, 6, 'effect id=leave');
    expect(ran.stdout).toBe('');
    const id = await newest('careful');
    expect(ran.stderr).toContain(`svc session approve ${id}`);
    const [, rest = ''] = /--after (\d+)/.exec(ran.stderr) ?? [];
    const tail = spawn(['session', 'tail', id, '--after', rest]);
    expectRan(await svc(['session', 'approve', id]), 0);
    await agents.untilStatus(id, 'RUNNING');
    await until(async () => (await agents.get(id)).turns?.[0]?.status === 'TURN_STATUS_COMPLETED');
    await svc(['session', 'complete', id]);
    const told = await new Response(tail.stdout).text();
    expect(linesOf(told)[0]).toBe('approved');
    expect(told).toMatch(/✓ effect id=leave/);
    expect(linesOf(told).at(-1)).toBe('the session is completed');
    expectRan(await svc(['session', 'approve', id]), 6, 'waits for approval');
  });

  test('is denied with a reason that the agent hears, and --wait waits for it', async () => {
    const input = script('deny', effect('deny'), 'expect /not on a Friday/', 'say I see.');
    const running = svc(['session', 'run', 'careful', '--wait', input]);
    const id = await until(async () => {
      const { stdout } = await svc(['session', 'list', '--status', 'approval']);
      return stdout.split('\t')[0];
    });
    expectRan(await svc(['session', 'deny', id, '--reason', 'not on a Friday']), 0);
    expect(await running).toMatchObject({ code: 0, stdout: 'I see.\n' });
    expect(await effectsOf('deny')).toBe(0);
  });

  test('that asks ends with 6, and is answered by steering', async () => {
    const ask = 'call ask_user {"question":"Which colour?"}';
    const ran = await svc(['session', 'run', 'helper', script('asks', ask, 'expect /^blue$/', 'say Blue.')]);
    expectRan(ran, 6, 'Which colour?');
    const id = await newest('helper');
    expect((await svc(['session', 'show', id])).stdout).toContain('? Which colour?');
    expect((await svc(['session', 'steer', id, 'blue'])).stderr).toContain('answered');
    await until(async () => (await agents.get(id)).turns?.[0]?.assistantOutput === 'Blue.');
    expectRan(await svc(['session', 'steer', id, 'x']), 6);
  });

  test('that waits in line is watched from its own beginning', async () => {
    const first = script('line1', effect('line1', 700), 'say first');
    const id = (await svc(['session', 'run', 'helper', '--detach', first])).stdout.trim();
    const more = ['--session', id, '--queue', '--json', script('line2', 'say second')];
    const events = linesOf((await svc(['session', 'run', 'helper', ...more])).stdout);
    expect(new Set(events.map((line) => JSON.parse(line).turnNumber))).toEqual(new Set([2]));
  });

  test('goes on when its watcher leaves', async () => {
    const input = script('leaves', effect('leaves', 1_500), 'expect /"count":1/', 'say on and on');
    const child = spawn(['session', 'run', 'helper', '--json', input]);
    await child.stdout.getReader().read();
    child.kill('SIGINT');
    expect(await child.exited).toBe(130);
    expect(await new Response(child.stderr).text()).toContain('The turn goes on');
    const id = await newest('helper');
    await until(async () => (await agents.get(id)).turns?.[0]?.assistantOutput === 'on and on');
  });

  test('is left alone, refused a second one, steered and interrupted', async () => {
    const input = script('alone', effect('alone', 3_000), 'steer /hurry/', 'say never');
    const id = (await svc(['session', 'run', 'helper', '--detach', input])).stdout.trim();
    const busy = await svc(['session', 'run', 'helper', '--session', id, 'x']);
    expectRan(busy, 6, '--queue');
    expectRan(await svc(['session', 'steer', id, 'hurry']), 0);
    expectRan(await svc(['session', 'interrupt', id]), 0);
    expectRan(await svc(['session', 'interrupt', id]), 6);
    const next = await svc(['session', 'run', 'helper', '--session', id, script('after', 'say on we go')]);
    expect(next.stdout).toBe('on we go\n');
    expectRan(await svc(['session', 'cancel', id]), 0);
    const over = await svc(['session', 'run', 'helper', '--session', id, 'x']);
    expectRan(over, 6, 'svc session run helper');
  });

  test.each([
    [['session', 'run', 'nobody', 'x'], 5, 'svc agent list'],
    [['session', 'run', 'helper', ' '], 2, 'told nothing'],
    [['session', 'run', 'worker', 'x'], 6, 'sub-agent'],
    [['session', 'show', 'ses_none'], 5, 'ses_none'],
    [['session', 'tail', 'ses_none'], 5, 'ses_none'],
    [['session', 'list', '--agent', 'nobody'], 5, 'nobody'],
    [['chat', 'helper', 'x', '--system', 'y'], 2, '--system'],
    [['chat', 'local/echo', 'x', '--session', 'y'], 2, '--session'],
  ] as const)('%p ends with %i: %s', async (argv, code, words) => {
    expectRan(await svc([...argv]), code, words);
  });
});

describe('sub-agents', () => {
  test('are drawn, and what they wait for is decided by the session above them', async () => {
    const task = script('child', effect('child'), 'expect /"count":1/', 'say Child done.');
    const spawning = `call spawn_agent ${JSON.stringify({ agent: 'worker', task })}`;
    const input = script('parent', spawning, 'expect /Child done/', 'say All done.');
    const running = svc(['session', 'run', 'boss', input]);
    const id = await until(() => newest('boss'));
    await until(async () =>
      (await svc(['session', 'show', id])).stdout.includes('needs approval in the session'),
    );
    const tree = linesOf((await svc(['session', 'tree', id])).stdout);
    expect(tree[0]).toStartWith(`boss  ${id}  running`);
    expect(tree[1]).toMatch(/^└─ worker {2}ses_\S+ {2}waiting for approval/);
    const below = /ses_\w+/.exec(tree[1] ?? '')?.[0] ?? '';
    expect(linesOf((await svc(['session', 'tree', below])).stdout)).toHaveLength(2);
    await svc(['session', 'approve', id]);
    expect(await running).toMatchObject({ code: 0, stdout: 'All done.\n' });
  });
});

describe('on a terminal', () => {
  test('a talk streams, shows calls as lines, and comes back to its session', async () => {
    const run = onTerminal('$SVC chat helper; echo rc $?');
    await run.see('> ');
    run.paste(script('talk', 'think Looking.', effect('talk'), 'expect /"count":1/', 'say All is done.'));
    await run.see('1 call');
    expect(run.screen()).toContain('Looking.');
    expect(run.screen()).toMatch(/✓ effect id=talk ms=0 · \d+ ms · \{/);
    run.type('\x03');
    await run.exited;
    expect(run.screen()).toContain('rc 130');
    const [command = ''] = /svc chat helper --session \S+/.exec(run.screen()) ?? [];
    const again = onTerminal(`${command.replace('svc', '$SVC')}; echo rc $?; stty -a`);
    await again.see('All is done.');
    again.paste(script('talk2', 'say And again.'));
    await again.see('And again.');
    again.type('/quit\r');
    await again.exited;
    expect(again.screen()).toContain('rc 0');
    expect(again.screen()).toMatch(/[^-]icanon/);
    expect(again.screen()).toMatch(/[^-]echo /);
  });

  test('leave is given and refused where it is asked, call by call', async () => {
    const run = onTerminal('$SVC chat careful');
    await run.see('> ');
    const calls = [effect('yes'), `& ${effect('no')}`];
    run.paste(script('decide', ...calls, effect('third'), 'say The end.'));
    await run.see('[e]ach');
    run.type('perhaps\r');
    await run.see('y, n or v');
    run.type('v\r');
    await run.see('"id": "no"');
    run.type('e\r');
    await run.see('1 of 2');
    run.type('y\r');
    await run.see('2 of 2');
    run.type('n\r');
    await run.see('[y]es [n]o WHY [v]iew');
    run.type('n no more of it\r');
    await run.see('The end.');
    expect(await Promise.all(['yes', 'no', 'third'].map(effectsOf))).toEqual([1, 0, 0]);
    expect(run.screen()).toContain('no more of it');
    run.type('\x04');
    await run.exited;
  });

  test('a question is answered where it is asked, and what is typed meanwhile joins the turn', async () => {
    const run = onTerminal('$SVC chat helper; echo rc $?');
    await run.see('> ');
    const ask = 'call ask_user {"question":"Which colour?","options":["red","blue"]}';
    const slow = [effect('slow', 1_200), 'expect /"count":1/', 'steer /be quick/'];
    run.paste(script('typed', ask, 'expect /^blue$/', ...slow, 'say Blue it is.'));
    await run.see('2  blue');
    run.type('2\r');
    await run.see('effect id=slow');
    run.type('be quick\r');
    await run.see('Blue it is.');
    run.type('/quit\r');
    await run.exited;
    expect(run.screen()).toContain('rc 0');
  });

  test('Ctrl-C asks: again interrupts the turn, d leaves it running', async () => {
    const run = onTerminal('$SVC chat helper; echo rc $?');
    await run.see('> ');
    run.paste(script('stop', effect('stop', 8_000), 'say never'));
    await run.see('effect id=stop');
    run.type('\x03');
    await run.see('d detaches');
    run.type('\x03');
    await run.see('the turn was ended');
    run.paste(script('detach', effect('detach', 1_500), 'expect /"count":1/', 'say It went on.'));
    await run.see('effect id=detach');
    run.type('\x03');
    await run.see('d detaches');
    run.type('d');
    await run.exited;
    expect(run.screen()).toContain('The turn goes on.');
    expect(run.screen()).toContain('rc 0');
    const id = await newest('helper');
    await until(async () => (await agents.get(id)).turns?.[1]?.assistantOutput === 'It went on.');
    const once = onTerminal('$SVC session run helper "$INPUT"; echo rc $?', {
      INPUT: script('once', effect('once', 8_000), 'say never'),
    });
    await once.see('effect id=once');
    once.type('\x03');
    await once.see('d detaches');
    once.type('\x03');
    await once.exited;
    expect(once.screen()).toContain('rc 130');
    await svc(['session', 'cancel', id]);
    expectRan(await svc(['session', 'show', id]), 0);
    const over = onTerminal('$SVC chat helper --session $ID; echo rc $?', { ID: id });
    await over.exited;
    expect(over.screen()).toMatch(/is cancelled[\s\S]*rc 6/);
  });

  test('one turn asks for leave, also for what a sub-agent does, and ends with its outcome', async () => {
    const task = script('leaf', effect('leaf'), 'expect /"count":1/', 'say Leaf done.');
    const spawning = `call spawn_agent ${JSON.stringify({ agent: 'worker', task })}`;
    const input = script('stem', spawning, 'expect /Leaf done/', 'say Stem done.');
    const run = onTerminal('$SVC session run boss "$INPUT"; echo rc $?', { INPUT: input });
    await run.see('[y]es');
    run.type('y\r');
    await run.exited;
    expect(run.screen()).toMatch(/│ ✓ effect id=leaf/);
    expect(run.screen()).toMatch(/Stem done\.\n.*\nrc 0/);
  });

  test('nothing that a model or a tool says steers it, and NO_COLOR has no colours', async () => {
    const evil = 'a\x1b]0;owned\x07b\x9b31mc\x1b[2J';
    const input = script(
      'evil',
      `think ${evil}`,
      `call effect {"id":"${JSON.stringify(evil).slice(1, -1)}"}`,
      'say end',
    );
    const run = onTerminal('$SVC session run careful "$INPUT"; echo rc $?', { INPUT: input, NO_COLOR: '1' });
    await run.see('[y]es');
    run.type('y\r');
    await run.exited;
    expect(run.shown()).toContain('\uFFFD]0;owned');
    for (const sequence of ['\x1b]0;', '\x9b', '\x1b[2J', '\x1b[3', '\x07'])
      expect(run.shown()).not.toContain(sequence);
    expect(run.screen()).toContain('rc 0');
  });
});

describe('a daemon that is killed', () => {
  test('is waited for: tail tells every event once, and a turn on a terminal is seen to its end', async () => {
    const id = (
      await svc(['session', 'run', 'helper', '--detach', script('before', 'say before')])
    ).stdout.trim();
    await until(async () => (await agents.get(id)).turns?.[0]?.status === 'TURN_STATUS_COMPLETED');
    const tail = spawn(['session', 'tail', id, '--json']);
    const words = Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ');
    const input = script(
      'killed',
      'pace 40',
      `think ${words}`,
      effect('killed'),
      'expect /"count":1/',
      'say Still here.',
    );
    const run = onTerminal('$SVC session run helper --session $ID "$INPUT"; echo rc $?', {
      ID: id,
      INPUT: input,
    });
    await run.see('word5');
    const { dataDir, apiKey, url } = daemon;
    await daemon.kill9();
    await run.see('the connection is lost');
    daemon = await startDaemon({
      dataDir,
      apiKey,
      port: Number(new URL(url).port),
      env: { ...NO_SANDBOXES, ...model.env },
    });
    await run.exited;
    expect(run.screen()).toContain('svc was restarted meanwhile');
    expect(run.screen()).toMatch(/Still here\.\n.*\nrc 0/);
    await svc(['session', 'complete', id]);
    const events = linesOf(await new Response(tail.stdout).text()).map((line) => JSON.parse(line));
    expect(events.map(({ id: seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(events.at(-1)).toMatchObject({ type: 'session.end' });
    expect(await tail.exited).toBe(0);
    expect(await effectsOf('killed')).toBe(1);
  });
});
