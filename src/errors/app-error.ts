import { CODES, type Code, type CodeEntry, type DataOf } from './codes.ts';

/** One field of a request that is wrong. `field` is a path such as `body.labels.team`. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** The error body of every operation (spec, Errors). */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly details: ReadonlyArray<{ '@type': string; [key: string]: unknown }>;
}

const TYPE = 'type.googleapis.com/google.rpc';

/** An error that was meant: it has a code, and its words may leave the machine. */
export class AppError extends Error {
  readonly http: number;
  readonly rpc: number;
  readonly exit: number;
  readonly hint: string | undefined;

  constructor(
    readonly code: Code,
    readonly data: Readonly<Record<string, unknown>>,
    readonly violations: readonly FieldViolation[] = [],
  ) {
    const entry = CODES[code] as unknown as CodeEntry<Readonly<Record<string, unknown>>>;
    super(entry.message(data));
    this.name = 'AppError';
    this.http = entry.http;
    this.rpc = entry.rpc;
    this.exit = entry.exit;
    this.hint = entry.hint?.(data);
  }

  /** The body on the wire: integer code, message, details with the string code, fields, hint, request id. */
  toWire(requestId: string): WireError {
    const details: Array<{ '@type': string; [key: string]: unknown }> = [
      { '@type': `${TYPE}.ErrorInfo`, reason: this.code, domain: 'svc' },
    ];
    if (this.violations.length > 0)
      details.push({ '@type': `${TYPE}.BadRequest`, fieldViolations: this.violations });
    for (const name of ['attempts', 'violations'] as const)
      if (Array.isArray(this.data[name]))
        details.push({
          '@type': `type.svc.dev/svc.gateway.${name}`,
          [this.shownName(name)]: this.data[name],
        });
    if (this.hint) details.push({ '@type': `${TYPE}.Help`, hint: this.hint });
    details.push({ '@type': `${TYPE}.RequestInfo`, requestId });
    return { code: this.rpc, message: this.message, details };
  }

  /** What guardrails found is named by where they found it: `input_guardrail_violations`. */
  private shownName(name: string): string {
    const { direction } = this.data;
    return name === 'violations' && typeof direction === 'string'
      ? `${direction}_guardrail_violations`
      : name;
  }
}

/** Makes the error of a code. Use: `throw fail('sandbox_not_found', { id })`. */
export function fail<C extends Code>(
  code: C,
  ...[data]: DataOf<C> extends undefined ? [] : [DataOf<C>]
): AppError {
  return new AppError(code, (data ?? {}) as Readonly<Record<string, unknown>>);
}

/** Makes the error of bad input: 400, code 3, each wrong field named. */
export function invalid(...violations: [FieldViolation, ...FieldViolation[]]): AppError {
  const [first] = violations;
  const message = `${first.field}: ${first.description}`;
  return new AppError('invalid_argument', { message, field: first.field }, violations);
}

/** The error as it may be shown: an AppError stays, anything else becomes `internal` without its text. */
export function asAppError(error: unknown): AppError {
  return error instanceof AppError ? error : fail('internal');
}
