import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RemoteError } from '../../../src/client/remote-error.ts';
import { recordedTerminal } from '../../testing/terminal.ts';
import { Conversation, questionOf } from './conversation.ts';
import { readImage } from './image.ts';
import { withNext } from './next-command.ts';
import { AnswerPrinter, summaryOf } from './printer.ts';
import { SLASH } from './slash.ts';

describe('what is typed', () => {
  test.each([
    ['hello', { kind: 'question', text: 'hello' }],
    ['//model is a command', { kind: 'question', text: '/model is a command' }],
    ['/etc/passwd is what?', { kind: 'question', text: '/etc/passwd is what?' }],
    ['  /model  openai/gpt-4o ', { kind: 'slash', name: 'model', argument: 'openai/gpt-4o' }],
    ['/system a\nb', { kind: 'slash', name: 'system', argument: 'a\nb' }],
    ['/exit', { kind: 'slash', name: 'quit', argument: '' }],
    ['/constructor', { kind: 'unknown', name: 'constructor', near: undefined }],
    ['/sav x', { kind: 'unknown', name: 'sav', near: 'save' }],
  ] as const)('%p', (line, expected) => {
    expect<unknown>(SLASH.read(line)).toEqual(expected);
  });

  test('Tab goes on with a command, and with nothing else', () => {
    expect(SLASH.complete('/s')[0]).toEqual(['/system ', '/save ']);
    expect(SLASH.complete('s')[0]).toEqual([]);
  });
});

test('a conversation as Markdown quotes what the model was told, and mentions pictures', () => {
  const talk = new Conversation('a/b', 'one\ntwo');
  talk.add(questionOf('see', ['data:image/png;base64,AAAA']), 'a dot');
  expect(talk.toMarkdown()).toBe(
    '# a/b\n\n> one\n> two\n\n## Question\n\nsee\n\n*(a picture)*\n\n## Answer\n\na dot\n',
  );
  expect(JSON.parse(talk.toJson()).messages[0]).toEqual({ role: 'system', content: 'one\ntwo' });
  expect(talk.length).toBe(1);
});

describe('a picture', () => {
  test.each([
    ['\x89PNG\r\n\x1a\n', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a', 'image/gif'],
    ['RIFF\n\n\n\nWEBP', 'image/webp'],
    ['<svg>', undefined],
  ])('that begins with %j is %p', async (head, type) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-chat-'));
    const path = join(folder, 'picture');
    writeFileSync(path, Buffer.from(head, 'latin1'));
    const read = readImage(path).then(
      (url) => url.slice(0, url.indexOf(';')),
      (error: Error) => error.message,
    );
    expect(await read).toContain(type ? `data:${type}` : 'is no PNG');
    rmSync(folder, { recursive: true });
  });

  test('at an address is left there', async () => {
    expect(await readImage('https://example.com/a.png')).toBe('https://example.com/a.png');
  });
});

describe('an answer', () => {
  const answer = {
    text: 'x',
    reasoning: '',
    answeredBy: 'a/b',
    requestId: 'req_1',
    totalMs: 1_500,
    firstMs: 20,
    isStopped: false,
    finishReason: 'length',
    usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
  };

  test('on a terminal has its thoughts apart, and no power over it', async () => {
    const terminal = recordedTerminal(true);
    const printer = new AnswerPrinter(terminal);
    printer.reasoning('hm\x1b[2J');
    await printer.text('so\x1b]0;x\x07');
    await printer.end();
    expect(terminal.err.text()).toBe('hm\uFFFD[2J\n\n');
    expect(terminal.out.text()).toBe('so\uFFFD]0;x\uFFFD\n');
  });

  test('in a pipe is as it came, and its thoughts are left out', async () => {
    const terminal = recordedTerminal();
    const printer = new AnswerPrinter(terminal);
    printer.reasoning('hm');
    await printer.text('a\x1bb\n');
    await printer.end();
    expect([terminal.out.text(), terminal.err.text()]).toEqual(['a\x1bb\n', '']);
  });

  test.each([
    [undefined, 'a/b · 9 in, 2 out · first words 20 ms · 1.5 s · cut off at the most tokens'],
    [0, 'a/b · 9 in, 2 out · $0 · first words 20 ms · 1.5 s · cut off at the most tokens'],
    [0.000012, 'a/b · 9 in, 2 out · $0.000012 · first words 20 ms · 1.5 s · cut off at the most tokens'],
    [1.25, 'a/b · 9 in, 2 out · $1.250 · first words 20 ms · 1.5 s · cut off at the most tokens'],
  ])('that cost %p is summed up', (cost, line) => {
    expect(summaryOf(answer, cost)).toBe(line);
  });
});

describe('an error', () => {
  const errorOf = (reason: string, hint?: string, message = 'It failed.') =>
    new RemoteError(502, {
      message,
      details: [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason },
        ...(hint ? [{ '@type': 'type.googleapis.com/google.rpc.Help', hint }] : []),
      ],
    });
  const hintOf = (error: RemoteError) => (withNext(error, 'openai/x') as RemoteError).hint;

  test('names the command that helps, after what the daemon has said', () => {
    expect(hintOf(errorOf('upstream_down'))).toBe('Next: svc provider test openai');
    expect(hintOf(errorOf('upstream_failed', undefined, 'There is no active key.'))).toContain(
      'svc provider add openai',
    );
    expect(hintOf(errorOf('model_not_found', 'Did you mean y?'))).toBe(
      'Did you mean y? Next: svc model list --provider openai',
    );
  });

  test('of another kind stays as it is', () => {
    const error = errorOf('budget_spent', 'See svc usage');
    expect(withNext(error, 'openai/x')).toBe(error);
    const other = new Error('no');
    expect(withNext(other, 'openai/x')).toBe(other);
  });
});
