import { expect, test } from 'bun:test';
import { RemoteError } from '../src/client/remote-error.ts';
import { fail, invalid } from '../src/errors/app-error.ts';
import { reportFailure } from './failure.ts';
import { recordedTerminal } from './testing/terminal.ts';

function report(error: unknown, env = {}): { code: number; text: string } {
  const terminal = recordedTerminal();
  const code = reportFailure(error, terminal, env);
  expect(terminal.out.text()).toBe('');
  return { code, text: terminal.err.text() };
}

const remote = (error: ReturnType<typeof fail>) => new RemoteError(error.http, error.toWire('req_7'));

const cases: Array<[name: string, error: unknown, code: number, text: string]> = [
  [
    'what and the next command',
    fail('sandbox_not_found', { id: 'x' }),
    5,
    'error: There is no sandbox "x".\nhint: List yours: svc sandbox list\n',
  ],
  [
    'the same from afar',
    remote(fail('sandbox_not_found', { id: 'x' })),
    5,
    'error: There is no sandbox "x".\nhint: List yours: svc sandbox list\n',
  ],
  [
    'every wrong field, when there are several',
    invalid({ field: 'body.a', description: 'is wrong' }, { field: 'body.b', description: 'too' }),
    2,
    'error: body.a: is wrong\n  body.a: is wrong\n  body.b: too\n',
  ],
  [
    'the request id of what broke there',
    remote(fail('internal')),
    1,
    'error: Something went wrong inside svc. The request id finds it in the log.\nrequest id: req_7\n',
  ],
  ['nothing when the person left', fail('cancelled'), 130, ''],
  ['an unexpected error, without its stack', new TypeError('boom'), 1, 'error: boom\n'],
  [
    'a conflict',
    fail('already_exists', { what: 'sandbox', id: 'x' }),
    6,
    'error: The sandbox "x" exists already.\n',
  ],
];

test.each(cases)('says %s', (_, error, code, text) => {
  expect(report(error)).toEqual({ code, text });
});

test('shows the stack when SVC_DEBUG is set', () => {
  expect(report(new TypeError('boom'), { SVC_DEBUG: '1' }).text).toContain('failure.test.ts');
});

test('control characters in a message stay out of the terminal', () => {
  expect(report(new Error('a\x1b[2Jb')).text).toBe('error: a\uFFFD[2Jb\n');
});
