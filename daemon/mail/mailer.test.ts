import { afterEach, describe, expect, test } from 'bun:test';
import type { ChildServer } from '../../test/support/child-server.ts';
import { type SmtpOptions, startSmtpServer, type TakenMail } from '../../test/support/smtp-server.ts';
import { Config } from '../config/config.ts';
import { createMailer, readSmtpUrl } from './mailer.ts';

let server: ChildServer<TakenMail> | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function mailerTo(options: SmtpOptions = {}, userInfo = '', settings: Record<string, unknown> = {}) {
  server = await startSmtpServer(options);
  const url = `smtp://${userInfo}127.0.0.1:${server.port}`;
  return createMailer(
    new Config({ flags: { 'data.dir': '/nonexistent', 'mail.smtp_url': url, ...settings }, env: {} }),
  );
}

const letter = {
  to: 'ada@example.com',
  subject: 'Sign-in link',
  text: 'Grüße\n\nhttp://localhost/x?token=abc\n',
};

describe('mail', () => {
  test('reaches the server as it was written', async () => {
    const mailer = await mailerTo({}, '', { 'mail.from': 'svc@example.com' });
    await mailer.send(letter);
    const mail = await server?.next();
    expect(mail).toMatchObject({ from: 'svc@example.com', to: ['ada@example.com'] });
    expect(mail?.raw).toContain('Subject: Sign-in link');
    expect(mail?.raw).toContain('http://localhost/x?token=');
  });

  test('gives the name and password of the URL', async () => {
    const mailer = await mailerTo(
      { auth: 'm@x:p@ss/word' },
      `${encodeURIComponent('m@x')}:${encodeURIComponent('p@ss/word')}@`,
    );
    await mailer.send(letter);
    expect((await server?.next())?.user).toBe('m@x');
  });

  test('that is refused is an error without what the server said', async () => {
    const mailer = await mailerTo({ auth: 'm:right' }, 'm:wrong@');
    const error = await mailer.send(letter).catch((reason) => reason);
    expect(error.code).toBe('upstream_failed');
    expect(error.message).toBe('The mail server did not take the letter: EAUTH (535)');
    await server?.stop();
    const refusing = await mailerTo({ refuses: true });
    expect((await refusing.send(letter).catch((reason) => reason)).code).toBe('upstream_failed');
  });

  test('without a server is not configured', async () => {
    const mailer = createMailer(new Config({ flags: { 'data.dir': '/nonexistent' }, env: {} }));
    expect(mailer.isConfigured).toBe(false);
    expect((await mailer.send(letter).catch((reason) => reason)).code).toBe('not_configured');
  });
});

describe('the address of a mail server', () => {
  test.each([
    ['', undefined],
    ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, secure: false, requireTLS: true }],
    ['smtps://mail.example.com', { host: 'mail.example.com', port: 465, secure: true, requireTLS: false }],
    [
      'smtp://mail.example.com:25?require_tls=false',
      { host: 'mail.example.com', port: 25, secure: false, requireTLS: false },
    ],
    ['smtp://192.168.1.2:1025', { host: '192.168.1.2', port: 1025, secure: false, requireTLS: false }],
    ['smtp://[::1]:1025', { host: '::1', port: 1025, secure: false, requireTLS: false }],
    [
      'smtps://a%40b:c%3Ad@mail.example.com',
      {
        host: 'mail.example.com',
        port: 465,
        secure: true,
        requireTLS: false,
        auth: { user: 'a@b', pass: 'c:d' },
      },
    ],
  ])('%p', (url, expected) => {
    expect(readSmtpUrl(url)).toEqual(expected);
  });

  test.each(['mail.example.com', 'http://mail.example.com', 'smtp://', 'smtp:mail'])('%p is none', (url) => {
    expect(() => readSmtpUrl(url)).toThrow('mail.smtp_url: must be smtp://');
  });
});
