import type { ChatChunk } from '../../wire/chat.ts';
import { type FailureKind, UpstreamError } from '../error.ts';
import { parseJson } from '../translate/answer.ts';
import { brokenOff, type ChunkSource } from '../translate/stream.ts';
import { type Frame, Frames } from './frames.ts';
import type { ConverseReader } from './reader.ts';
import type { ConverseEvent } from './wire.ts';

const EXCEPTIONS: Readonly<Record<string, FailureKind>> = {
  throttlingException: 'rate_limit',
  modelTimeoutException: 'timeout',
  validationException: 'request',
};

/** Chunks out of the binary event stream. Errors: UpstreamError for the exceptions that come in it. */
export function overFrames(reader: ConverseReader, provider: string): ChunkSource {
  const frames = new Frames();
  const decoder = new TextDecoder();
  const read = ({ headers, payload }: Frame): ChatChunk[] => {
    const body = decoder.decode(payload);
    const exception = headers.get(':exception-type') ?? headers.get(':error-code');
    if (exception) throw exceptionOf(exception, body, headers, provider);
    return reader.read(headers.get(':event-type') ?? '', parseJson(body, provider) as ConverseEvent);
  };
  return {
    take(bytes, into) {
      for (const frame of frames.take(bytes)) into.push(...read(frame));
    },
    end(into) {
      if (!frames.isWhole) throw brokenOff(provider);
      into.push(...reader.end());
    },
  };
}

function exceptionOf(type: string, body: string, headers: Frame['headers'], provider: string): UpstreamError {
  const said = body.startsWith('{')
    ? (parseJson(body, provider) as ConverseEvent).message
    : headers.get(':error-message');
  const kind = EXCEPTIONS[type] ?? 'server';
  return new UpstreamError(kind, `The provider ${provider} broke its answer off: ${said ?? type}`, {
    code: type,
  });
}
