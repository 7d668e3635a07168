import type { SpeechRequest } from '../../../../../src/api/gateway/audio.ts';
import type { Value } from '../../../../../src/api/schema.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { Usage } from '../../wire/usage.ts';
import { usageIn } from '../../wire/usage-object.ts';
import type { FormRequest } from '../form/form-request.ts';
import { answerRaw, type RawReading } from '../raw-answer.ts';
import { relayWork } from '../relay-work.ts';
import { textsIn } from '../texts-in.ts';

type Speech = Value<typeof SpeechRequest>;

const speech = relayWork<Speech>('speech');
const transcriptions = relayWork<FormRequest>('transcriptions');
const translations = relayWork<FormRequest>('translations');

/** Speech is paid by its characters, or by tokens where the provider tells them. */
const speaking: RawReading<Speech> = {
  took: (text, { input }) => ({ input: 0, output: 0, ...usageIn(text), characters: [...input].length }),
};

const writing: RawReading<FormRequest> = { took: usageOfWriting, said: wordsIn };

/** Speech and its transcription: in the wire format of stock clients. */
export class AudioSurface {
  constructor(private readonly pipeline: Pipeline) {}

  /** Speaks a text: the bytes of the sound, or events with pieces of it. Errors: as Pipeline.run. */
  speak(call: ModelCall<Speech>): Promise<Response> {
    return answerRaw(this.pipeline, call, speech, speaking);
  }

  /** Writes down what is said. `over` is called when the form is not needed any more. Errors: as Pipeline.run. */
  transcribe(call: ModelCall<FormRequest>, over: () => void): Promise<Response> {
    return answerRaw(this.pipeline, call, transcriptions, writing, over);
  }

  /** Writes down in English what is said. As `transcribe`. */
  translate(call: ModelCall<FormRequest>, over: () => void): Promise<Response> {
    return answerRaw(this.pipeline, call, translations, writing, over);
  }
}

/** Tokens or seconds of a usage object, or else the `duration` that verbose answers have. */
function usageOfWriting(text: string): Usage | undefined {
  const told = usageIn(text);
  const seconds = Number(/"duration"\s*:\s*"?(\d+(?:\.\d+)?)/.exec(text.slice(0, 4096))?.[1] ?? Number.NaN);
  if (Number.isNaN(seconds)) return told;
  return { input: 0, output: 0, seconds, ...told };
}

/** What was said, out of an answer of any format: JSON, events, or plain text with or without times. */
function wordsIn(answer: string): string {
  return /^\s*(?:\{|data:|event:)/.test(answer) ? textsIn(answer).join(' ') : answer;
}
