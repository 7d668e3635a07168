import { expect, test } from 'bun:test';
import { type AppError, fail, invalid } from '../../src/errors/app-error.ts';
import { failureResponse } from './failure.ts';

const attempts = [{ model: 'a/b', failure: 'server', status: 529, ms: 3 }];
const said = { type: 'server_error' };
const CASES: ReadonlyArray<[AppError, number, string]> = [
  [invalid({ field: 'max_tokens', description: 'is required' }), 400, 'invalid_request_error'],
  [fail('unauthenticated', { message: 'This operation needs a credential.' }), 401, 'authentication_error'],
  [fail('forbidden', { need: 'member' }), 403, 'permission_error'],
  [fail('model_not_found', { model: 'x', near: ['y'] }), 404, 'not_found_error'],
  [fail('body_too_large', { limit: 5 }), 413, 'request_too_large'],
  [fail('rate_limited', { message: 'slow', retryAfterSeconds: 7 }), 429, 'rate_limit_error'],
  [fail('budget_spent', { message: 'spent' }), 429, 'billing_error'],
  [fail('upstream_failed', { message: 'broken' }), 502, 'api_error'],
  [fail('upstream_failed', { message: 'overloaded', attempts }), 529, 'overloaded_error'],
  [fail('upstream_timeout', { message: 'silent' }), 504, 'timeout_error'],
  [fail('upstream_rejected', { message: 'no', status: 409, said }), 409, 'conflict_error'],
  [fail('internal'), 500, 'api_error'],
];

test.each(CASES)(
  '%s is told to clients of the Messages dialect in its own shape',
  async (error, status, type) => {
    const response = failureResponse(error, 'req_1', '/compat/anthropic/v1/messages');
    expect(response.status).toBe(status);
    expect(response.headers.get('request-id')).toBe('req_1');
    const body = (await response.json()) as { error: { message: string } };
    expect(body).toEqual({
      type: 'error',
      error: { type, message: expect.stringContaining(error.message), details: { error_code: error.code } },
      request_id: 'req_1',
    } as never);
  },
);

test('what to do next and how long to wait are part of it', async () => {
  const path = '/compat/anthropic/v1/messages';
  const limited = failureResponse(
    fail('rate_limited', { message: 'slow', retryAfterSeconds: 7 }),
    'req_1',
    path,
  );
  expect(limited.headers.get('retry-after')).toBe('7');
  const missing = failureResponse(fail('model_not_found', { model: 'x', near: ['y'] }), 'req_1', path);
  expect(await missing.text()).toContain('Did you mean y?');
});

test('an unknown error shows nothing of itself', async () => {
  const response = failureResponse(new Error('secret'), 'req_1', '/compat/anthropic/v1/messages');
  expect(await response.text()).not.toContain('secret');
});
