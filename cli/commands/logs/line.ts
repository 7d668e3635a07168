import type { LoggedRequest } from '../../../src/api/gateway/usage.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { Style } from '../../ui/color.ts';
import { printable } from '../../ui/table.ts';
import { short, took, usd } from '../usage/shown.ts';

/** A request of the log. */
export type LoggedRequestShown = Value<typeof LoggedRequest>;

const NAME_WIDTH = 34;
const TIME_WIDTH = 7;
const TOKENS_WIDTH = 13;
const COST_WIDTH = 10;

/** One request as one line for people, its colour that of its ending. */
export function requestLine(request: LoggedRequestShown, style: Style): string {
  const { startedAt = '', status = 0, ending, model, requestedModel = '', durationMs, firstByteMs } = request;
  const at = startedAt.slice(11, 23);
  const name = printable(model ?? requestedModel);
  const tokens =
    request.inputTokens === undefined ? '' : `${short(request.inputTokens)}>${short(request.outputTokens)}`;
  const cells = [
    style.dim(at),
    paint(style, ending)(`${status} ${(ending ?? '').padEnd('completed'.length)}`),
    name.padEnd(NAME_WIDTH),
    took(durationMs).padStart(TIME_WIDTH),
    style.dim(`(${took(firstByteMs) || '-'})`.padStart(TIME_WIDTH + 2)),
    tokens.padStart(TOKENS_WIDTH),
    usd(request.costUsd).padStart(COST_WIDTH),
    notes(request),
    style.dim(request.requestId ?? ''),
  ];
  return cells.join(' ').trimEnd();
}

/** One request as tab-separated values for programs. */
export function requestValues(request: LoggedRequestShown): string {
  const {
    startedAt,
    status,
    ending,
    model,
    requestedModel,
    durationMs,
    firstByteMs,
    inputTokens,
    outputTokens,
  } = request;
  const values = [
    startedAt,
    status,
    ending,
    model ?? requestedModel,
    durationMs,
    firstByteMs,
    inputTokens,
    outputTokens,
  ];
  return [...values, request.costUsd, notes(request), request.requestId]
    .map((value) => printable(String(value ?? '')).replace(/\t|\n/g, ' '))
    .join('\t');
}

function paint(style: Style, ending: LoggedRequestShown['ending']): (text: string) => string {
  if (ending === 'completed') return style.green;
  return ending === 'stopped' || ending === 'refused' ? style.yellow : style.red;
}

function notes({ attempts = [], cache, error, surface, streamed }: LoggedRequestShown): string {
  const said = [
    surface === 'chat' ? '' : surface,
    streamed ? 'stream' : '',
    cache === 'hit' || cache === 'semantic' ? `cache ${cache}` : '',
    attempts.length > 1 ? `${attempts.length} attempts` : '',
    error ?? '',
  ];
  return said.filter((word) => word !== '').join(', ');
}
