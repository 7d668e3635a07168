import type { Transporter } from 'nodemailer';
import { fail, invalid } from '../../src/errors/app-error.ts';
import { SECOND_MS } from '../../src/kit/time.ts';
import type { Config } from '../config/config.ts';
import { isLocalNetwork } from '../http/gate/addresses.ts';

/** One letter, as plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends mail through the server of `mail.smtp_url`. */
export interface Mailer {
  /** Whether there is a server. */
  readonly isConfigured: boolean;
  /** Resolves when the server has taken the letter. Errors: not_configured, upstream_failed. */
  send(mail: Mail): Promise<void>;
}

const TIMEOUT_MS = 15 * SECOND_MS;

/** Makes the mailer of an instance. Errors: invalid_argument when mail.smtp_url is no SMTP URL. */
export function createMailer(config: Config): Mailer {
  const options = readSmtpUrl(config.get('mail.smtp_url'));
  let transport: Promise<Transporter> | undefined;
  return {
    isConfigured: options !== undefined,
    async send(mail) {
      if (!options) throw fail('not_configured', { message: 'mail.smtp_url is not set.' });
      transport ??= connect(options);
      const mailer = await transport;
      try {
        await mailer.sendMail({ ...mail, from: config.get('mail.from') });
      } catch (error) {
        throw fail('upstream_failed', {
          message: `The mail server did not take the letter: ${reason(error)}`,
        });
      }
    },
  };
}

/** Where and how the server is reached. */
export interface SmtpOptions {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (smtps). */
  readonly secure: boolean;
  /** Nothing is said before STARTTLS: so unless the server is near, or `?require_tls=false` says otherwise. */
  readonly requireTLS: boolean;
  readonly auth?: { readonly user: string; readonly pass: string };
}

/** Reads `smtp://user:password@host:port` or `smtps://`; undefined when it is empty. Errors: invalid_argument. */
export function readSmtpUrl(text: string): SmtpOptions | undefined {
  if (text === '') return undefined;
  const url = URL.parse(text);
  const secure = url?.protocol === 'smtps:';
  if (!url?.hostname || (!secure && url.protocol !== 'smtp:'))
    throw invalid({ field: 'mail.smtp_url', description: 'must be smtp:// or smtps:// with a host' });
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const user = decodeURIComponent(url.username);
  return {
    host,
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && !isLocalNetwork(host) && url.searchParams.get('require_tls') !== 'false',
    ...(user ? { auth: { user, pass: decodeURIComponent(url.password) } } : {}),
  };
}

async function connect(options: SmtpOptions): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  return createTransport({ ...options, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
}

/** What went wrong, without what was said: a server may repeat the address or the credentials. */
function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  const status = error instanceof Error && 'responseCode' in error ? ` (${String(error.responseCode)})` : '';
  return `${code}${status}`;
}
