import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runOnPty } from '../cli/testing/run-svc.ts';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { until } from './support/scene.ts';
import { startUpstream, type TestUpstream } from './support/upstream.ts';

setDefaultTimeout(20_000);

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let upstream: TestUpstream;
let daemon: TestDaemon;
let home: string;

beforeAll(async () => {
  upstream = await startUpstream();
  const env = {
    OPENAI_BASE_URL: upstream.url,
    OPENAI_API_KEY: upstream.apiKey,
    SVC_GATEWAY_RETRIES: '0',
    SVC_GATEWAY_PRICES: JSON.stringify({ 'openai/*': { input: 1, output: 2 } }),
  };
  daemon = await startDaemon({ env });
});

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-test-chat-'));
});

afterAll(async () => {
  await daemon?.stop();
  await upstream?.stop();
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

const environment = () => ({ HOME: home, SVC_API_URL: daemon.url, SVC_API_KEY: daemon.apiKey });

async function svc(argv: readonly string[], stdin = '') {
  const child = Bun.spawn([...svcCommand(), ...argv], {
    env: { PATH: process.env.PATH, ...environment() },
    stdin: new TextEncoder().encode(stdin),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

/** A run on a terminal; `shown` is without the sequences that move the cursor and colour. */
function onTerminal(line: string) {
  const run = runOnPty(line, { ...environment(), SVC: svcCommand().join(' ') });
  return { ...run, plain: () => Bun.stripANSI(run.shown()).replaceAll('\r', '') };
}

const messagesSeen = async () => (await upstream.seen()).lastBody.messages;

describe('one question', () => {
  test('the answer is all that stands on stdout', async () => {
    const ran = await svc(['chat', 'openai/gpt-test', 'one', 'two three']);
    expect(ran).toEqual({ code: 0, stdout: 'three two one \n', stderr: '' });
  });

  test('comes from a pipe, alone or in place of -', async () => {
    expect((await svc(['chat', 'openai/gpt-test'], 'one two\n')).stdout).toBe('two one \n');
    await svc(['chat', 'local/echo', 'x']);
    expect((await svc(['chat', 'local/echo', 'Say:', '-'], 'a b\n')).stdout).toBe('Say:\n\na b\n');
  });

  test('takes along what options say', async () => {
    const image = join(home, 'pixel.dat');
    writeFileSync(image, PIXEL);
    const options = ['--system', 'Be brief.', '--temperature', '0.5', '--max-tokens', '7', '--image', image];
    await svc(['chat', 'openai/gpt-test', 'what is it', ...options]);
    expect((await upstream.seen()).lastBody).toMatchObject({
      temperature: 0.5,
      max_completion_tokens: 7,
      stream: true,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what is it' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL.toString('base64')}` } },
          ],
        },
      ],
    });
  });

  test('as JSON has usage, cost and times', async () => {
    const { stdout } = await svc(['chat', 'openai/gpt-test', 'one two three', '--json']);
    const { usage, costUsd, ...answer } = JSON.parse(stdout);
    expect(answer).toMatchObject({
      model: 'openai/gpt-test',
      answer: 'three two one ',
      finishReason: 'stop',
    });
    expect(answer.requestId).toMatch(/^req_/);
    expect(answer.totalMs).toBeGreaterThanOrEqual(answer.firstMs);
    expect(costUsd).toBeCloseTo((usage.prompt_tokens + 2 * usage.completion_tokens) / 1e6);
  });

  test.each([
    [['openai/broken', 'x'], 1, 'svc provider test openai'],
    [['openai/wants-another-key', 'x'], 1, 'svc provider'],
    [['nowhere/at-all', 'x'], 5, 'svc model list'],
    [['local/echo', 'x', '--image', '/dev/null'], 2, 'is no PNG'],
    [['local/echo', 'x', '--temperature', 'hot'], 2, 'from 0 to 2'],
    [['local/echo', '   '], 2, 'there is no question'],
  ] as const)('%p ends with %i and says what to do: %s', async (argv, code, words) => {
    const ran = await svc(['chat', ...argv]);
    expect(ran.code).toBe(code);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).toContain(words);
    expect(ran.stderr).not.toContain(upstream.apiKey);
  });

  test('an answer that breaks off says so after what has come', async () => {
    const ran = await svc(['chat', 'openai/fails-midstream', 'one two three four five six']);
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain('closed the connection');
    expect(ran.stderr).toContain('svc provider test openai');
  });

  test('Ctrl-C stops it, at the provider too', async () => {
    const { left } = await upstream.seen();
    const words = 'one two three four five six seven eight nine ten';
    const run = onTerminal(`exec $SVC chat openai/hangs-midstream "${words}"`);
    await run.see('ten');
    run.type('\x03');
    expect(await run.exited).toBe(130);
    expect(run.plain()).toContain('stopped');
    await until(async () => (await upstream.seen()).left > left);
  });

  test('on a terminal says what it took, and no answer steers the terminal', async () => {
    const run = onTerminal(`$SVC chat openai/gpt-test "$(printf 'one \\033]0;owned\\007 two')"`);
    expect(await run.exited).toBe(0);
    expect(run.shown()).not.toContain('\x1b]0;');
    expect(run.plain()).toMatch(/openai\/gpt-test · \d+ in, \d+ out · \$\S+ · first words \d+ ms · \d+ ms/);
  });
});

describe('a conversation', () => {
  async function begin(more = '', model = 'openai/gpt-test') {
    const run = onTerminal(`$SVC chat ${model} ${more}; echo rc $?`);
    await run.see('> ');
    /** Types a line and waits for a text after it. */
    const say = async (line: string, text: string) => {
      const from = run.shown().length;
      run.type(`${line}\r`);
      await until(async () => Bun.stripANSI(run.shown().slice(from)).includes(text));
    };
    return { ...run, say };
  }

  test('remembers what was said, under a system message that may change, and forgets it', async () => {
    const run = await begin('--system "Be kind."');
    await run.say('one two', 'two one');
    await run.say('three four', 'four three');
    expect(await messagesSeen()).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'one two' },
      { role: 'assistant', content: 'two one ' },
      { role: 'user', content: 'three four' },
    ]);
    await run.say('/system', 'told nothing');
    await run.say('/clear', 'Forgotten');
    await run.say('five six', 'six five');
    expect(await messagesSeen()).toEqual([{ role: 'user', content: 'five six' }]);
    run.type('/quit\r');
    await run.exited;
    expect(run.plain()).toContain('rc 0');
  });

  test('goes on with another model, over errors, and over lines that go on', async () => {
    const run = await begin();
    await run.say('one two', 'two one');
    await run.say('/model openai/broken', 'The model is openai/broken');
    await run.say('never answered', 'svc provider test openai');
    await run.say('/modle', 'did you mean /model?');
    await run.say('/model openai/gpt-test-mini', 'gpt-test-mini');
    await run.say('first\\', '. ');
    await run.say('second', 'in,');
    expect(await upstream.seen()).toMatchObject({
      lastBody: {
        model: 'gpt-test-mini',
        messages: [{ content: 'one two' }, { content: 'two one ' }, { content: 'first\nsecond' }],
      },
    });
    run.type('\x04');
    await run.exited;
    expect(run.plain()).toContain('rc 0');
  });

  test('is saved for people and for programs, for nobody else to read, and over nothing', async () => {
    const run = await begin();
    await run.say('one two', 'two one');
    await run.say('/save ~/talk.md', 'Saved');
    await run.say('/save ~/talk.json', 'Saved');
    await run.say('/save ~/talk.md', 'is there already');
    run.type('/quit\r');
    await run.exited;
    expect(readFileSync(join(home, 'talk.md'), 'utf8')).toBe(
      '# openai/gpt-test\n\n## Question\n\none two\n\n## Answer\n\ntwo one \n',
    );
    expect(JSON.parse(readFileSync(join(home, 'talk.json'), 'utf8')).messages).toHaveLength(2);
    expect(statSync(join(home, 'talk.md')).mode & 0o777).toBe(0o600);
    expect(existsSync(join(home, '.svc_history'))).toBe(false);
  });

  test('Ctrl-C stops an answer and keeps what has come; a second one leaves', async () => {
    const { left } = await upstream.seen();
    const run = await begin('', 'openai/hangs-midstream');
    await run.say('one two three four five six seven eight nine ten', 'ten nine');
    run.type('\x03');
    await run.see('stopped');
    await until(async () => (await upstream.seen()).left > left);
    run.type('\x03');
    await run.exited;
    expect(run.plain()).toContain('rc 130');
  });

  test('Ctrl-C drops what was typed, and leaves the terminal as it was', async () => {
    const run = onTerminal('$SVC chat openai/gpt-test; echo rc $?; stty -a');
    await run.see('> ');
    run.type('never sent\x03one two\r');
    await run.see('first words');
    expect(await messagesSeen()).toEqual([{ role: 'user', content: 'one two' }]);
    run.type('\x03');
    await run.see('once more');
    run.type('\x03');
    await run.exited;
    expect(run.plain()).toContain('rc 130');
    expect(run.plain()).toMatch(/[^-]icanon/);
    expect(run.plain()).toMatch(/[^-]echo /);
  });
});
