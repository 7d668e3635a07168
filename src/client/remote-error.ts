import type { FieldViolation } from '../errors/app-error.ts';
import { CODES, EXIT } from '../errors/codes.ts';

type Detail = Readonly<Record<string, unknown>>;

/** An error that a daemon answered, as its own process would have thrown it. */
export class RemoteError extends Error {
  /** The HTTP status. */
  readonly http: number;
  /** The google.rpc.Code. */
  readonly rpc: number;
  /** The string code, such as `sandbox_not_found`; empty when the answer has none. */
  readonly code: string;
  readonly hint: string | undefined;
  readonly violations: readonly FieldViolation[];
  /** Finds the request in the daemon's log; empty when the answer has none. */
  readonly requestId: string;
  /** Exit code of the CLI. */
  readonly exit: number;
  /** The body as it came. */
  readonly body: unknown;

  constructor(http: number, body: unknown) {
    const wire = asDetail(body);
    const details = Array.isArray(wire.details) ? wire.details.map(asDetail) : [];
    super(textOf(wire.message) || `The server answered ${http}.`);
    this.name = 'RemoteError';
    this.http = http;
    this.body = body;
    this.rpc = typeof wire.code === 'number' ? wire.code : 2;
    this.code = textOf(detailOf(details, 'ErrorInfo').reason);
    this.hint = textOf(detailOf(details, 'Help').hint) || undefined;
    this.requestId = textOf(detailOf(details, 'RequestInfo').requestId);
    this.violations = violationsOf(detailOf(details, 'BadRequest').fieldViolations);
    this.exit = exitOf(this.code, http);
  }
}

/** The error inside an answer that is none of the successes. */
export async function readError(response: Response): Promise<RemoteError> {
  const text = await response.text().catch(() => '');
  return new RemoteError(response.status, parseJson(text));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function exitOf(code: string, http: number): number {
  if (Object.hasOwn(CODES, code)) return CODES[code as keyof typeof CODES].exit;
  if (http === 401 || http === 403) return EXIT.auth;
  if (http === 404) return EXIT.notFound;
  if (http === 409) return EXIT.conflict;
  return http === 400 || http === 413 || http === 415 || http === 422 ? EXIT.usage : EXIT.error;
}

function detailOf(details: readonly Detail[], type: string): Detail {
  return details.find((detail) => textOf(detail['@type']).endsWith(`.${type}`)) ?? {};
}

function violationsOf(value: unknown): FieldViolation[] {
  if (!Array.isArray(value)) return [];
  return value
    .map(asDetail)
    .map(({ field, description }) => ({ field: textOf(field), description: textOf(description) }));
}

function asDetail(value: unknown): Detail {
  return typeof value === 'object' && value !== null ? (value as Detail) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
