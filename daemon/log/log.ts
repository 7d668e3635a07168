import pino from 'pino';
import { redact, redactText } from '../../src/kit/redact.ts';

/** What can be said about an event, besides its message. Secrets in it are masked. */
export type Fields = Readonly<Record<string, unknown>>;

/** The log of the instance: one line an event, with fields, on stderr. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /**
   * A line at info for whoever runs the instance, not masked: it carries a one-time link or token that
   * reaches its owner no other way. Nothing else may be said here.
   */
  announce(message: string): void;
  /** The same log, with fields on every line. */
  with(fields: Fields): Log;
}

/** Where lines go and how they look. */
export interface LogOptions {
  readonly level: string;
  readonly format: string;
  readonly write?: (line: string) => void;
}

/** Makes the log. Every line passes redaction, whatever was given to it. */
export function createLog({ level, format, write = (line) => process.stderr.write(line) }: LogOptions): Log {
  const destination = { write: format === 'json' ? write : (line: string) => write(asText(line)) };
  const options: pino.LoggerOptions = {
    level,
    base: undefined,
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label) => ({ level: label }),
      log: (fields) => redact(fields) as Record<string, unknown>,
    },
  };
  return wrap(pino(options, destination));
}

/** A log that keeps nothing, for tests. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  announce() {},
  with: () => silentLog,
};

function wrap(logger: pino.Logger): Log {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: Fields = {}) => {
      if (logger.isLevelEnabled(level)) logger[level](describeErrors(fields), redactText(message));
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    announce: (message) => logger.info(message),
    with: (fields) => wrap(logger.child(redact(fields) as Record<string, unknown>)),
  };
}

function describeErrors(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? (value.stack ?? value.message) : value,
    ]),
  );
}

function asText(line: string): string {
  const { time, level, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${message}${rest.join('')}\n`;
}
