import { expect, test } from 'bun:test';
import { UpstreamError } from './error.ts';
import { failureWithoutSecrets, withoutSecrets } from './secrets.ts';

const OPENAI = 'sk-proj-4f9a1c7e2b8d6053Zq81';
const AWS = 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const GOOGLE = JSON.stringify({
  type: 'service_account',
  client_email: 'svc@project.iam.gserviceaccount.com',
  private_key: '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----\n',
});

test.each([
  ['whole', OPENAI, `no: ${OPENAI}.`],
  ['in an address', AWS, `GET /?key=${encodeURIComponent(AWS)}`],
  ['in base64', OPENAI, `Basic ${btoa(OPENAI)}`],
  [
    'in part, as providers quote it',
    OPENAI,
    `Incorrect API key provided: ${OPENAI.slice(0, 14)}****${OPENAI.slice(-4)}.`,
  ],
  ['by its second half', AWS, `signed with ${AWS.split(':')[1]}`],
  ['by what is in it', GOOGLE, `read ${JSON.parse(GOOGLE).private_key}`],
])('a key is taken out %s', (_, secret, text) => {
  const shown = withoutSecrets(text, { secret });
  expect(shown).toContain('[redacted]');
  for (const part of [secret, secret.slice(0, 14), 'MIIEvQ', 'wJalrX', OPENAI.slice(-4)])
    expect(shown).not.toContain(part);
});

test('other words stay', () => {
  const text = 'The model gpt-4o of project.iam needs max_tokens.';
  for (const secret of [OPENAI, AWS, GOOGLE, '']) expect(withoutSecrets(text, { secret })).toBe(text);
  expect(withoutSecrets(text, undefined)).toBe(text);
});

test('a failure keeps what it is', () => {
  const error = new UpstreamError('server', `it said ${OPENAI}`, {
    status: 500,
    code: OPENAI,
    retryAfterMs: 7,
  });
  expect(failureWithoutSecrets(error, { secret: OPENAI })).toMatchObject({
    kind: 'server',
    message: 'it said [redacted]',
    details: { status: 500, code: '[redacted]', retryAfterMs: 7 },
  });
});
