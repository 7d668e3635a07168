import { AppError, asAppError } from '../../../../../src/errors/app-error.ts';

/** Something that a visitor is told in place of what they came for. */
export interface Notice {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

/** Nothing is at this address: one answer for all reasons, so that guessing tells nothing. */
export const NO_SUCH_PREVIEW: Notice = {
  status: 404,
  title: 'There is no preview here',
  text: 'The address is wrong, or the port is not exposed any more, or its sandbox is gone.',
};

/** The link was not good, or is not any more. */
export const LINK_NEEDED: Notice = {
  status: 403,
  title: 'This preview needs a link',
  text: 'The link has expired or is not for this port. Ask whoever gave it to you for a new one.',
};

/** What a failure means to a visitor. */
export function noticeOf(error: unknown, port: number): Notice {
  const known = asAppError(error);
  switch (known.code) {
    case 'nothing_listens':
      return {
        status: 502,
        title: `Nothing listens on port ${port}`,
        text: `Start a server in the sandbox, for example: python3 -m http.server ${port}. Then load this page again.`,
      };
    case 'sandbox_wrong_state':
      return {
        status: 503,
        title: 'The sandbox does not run',
        text: `${known.message} ${known.hint ?? ''}`.trim(),
      };
    case 'failed_precondition':
      return { status: 503, title: 'The sandbox does not run', text: known.message };
    case 'resource_exhausted':
      return { status: 503, title: 'Too many visitors', text: known.message };
    case 'internal':
      return {
        status: 502,
        title: 'The server in the sandbox did not answer',
        text: 'It closed the connection, or what it said is not HTTP.',
      };
    default:
      return { status: known.http, title: 'The preview is not available', text: known.message };
  }
}

/** Whether an error is one of ours, or something that went wrong on the way to the sandbox. */
export function isKnown(error: unknown): error is AppError {
  return error instanceof AppError;
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:20vh auto 0;padding:0 1.5em;color:#222;background:#fafafa}h1{font-size:1.3em}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}}';

/** A notice as a page for browsers and as JSON for programs. */
export function noticeResponse(
  request: Request,
  { status, title, text }: Notice,
  requestId: string,
): Response {
  const headers = {
    'cache-control': 'no-store',
    'x-request-id': requestId,
    'referrer-policy': 'no-referrer',
  };
  if (!(request.headers.get('accept') ?? '').includes('text/html'))
    return Response.json({ code: status, message: `${title}. ${text}` }, { status, headers });
  const page = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${STYLE}</style><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>`;
  return new Response(page, {
    status,
    headers: {
      ...headers,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    },
  });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
