import { endpoint, type Group } from '../endpoint.ts';
import { binary, nullable, oneOf, open, t } from '../schema.ts';

const MB = 1024 * 1024;

/** A wish for speech, as stock clients send it. */
export const SpeechRequest = open(
  'CreateSpeechRequest',
  {
    model: t.String({ minLength: 1 }),
    input: t.String({ minLength: 1, maxLength: 4096 }),
    voice: t.Union([t.String(), open('Voice', { id: t.String() })]),
  },
  {
    instructions: t.String(),
    response_format: oneOf('mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'),
    speed: t.Number({ minimum: 0.25, maximum: 4 }),
    stream_format: oneOf('audio', 'sse'),
  },
);

const sound = {
  file: binary('application/octet-stream'),
  model: t.String({ minLength: 1 }),
};
const reading = {
  prompt: t.String(),
  response_format: oneOf('json', 'text', 'srt', 'verbose_json', 'vtt'),
  temperature: t.Number({ minimum: 0, maximum: 1 }),
};

const TranscriptionParts = open('CreateTranscriptionRequest', sound, {
  ...reading,
  language: t.String(),
  timestamp_granularities: t.Array(oneOf('word', 'segment')),
  include: t.Array(t.String()),
  stream: nullable(t.Boolean()),
});

const TranslationParts = open('CreateTranslationRequest', sound, reading);

const TranscriptionSegment = open('TranscriptionSegment', {
  id: t.Integer(),
  seek: t.Integer(),
  start: t.Number(),
  end: t.Number(),
  text: t.String(),
  tokens: t.Array(t.Integer()),
  temperature: t.Number(),
  avg_logprob: t.Number(),
  compression_ratio: t.Number(),
  no_speech_prob: t.Number(),
});

const spoken = {
  task: t.String(),
  language: t.String(),
  duration: t.Number({ description: 'Seconds.' }),
  segments: t.Array(TranscriptionSegment),
};

/** What was said. Only `text` is there unless `verbose_json` was asked for; srt, vtt and text are plain text. */
export const Transcription = open(
  'Transcription',
  { text: t.String() },
  {
    ...spoken,
    words: t.Array(open('TranscriptionWord', { word: t.String(), start: t.Number(), end: t.Number() })),
  },
);

/** What was said, in English. */
export const Translation = open('Translation', { text: t.String() }, spoken);

const TranscriptionEvent = open(
  'TranscriptionStreamEvent',
  { type: t.String() },
  { delta: t.String(), text: t.String() },
);

const here = { spec: 'gateway', tag: 'Audio', access: 'member' } as const;

/** Speech and its transcription, in the wire format of stock clients. */
export const audio = {
  Speech: endpoint({
    ...here,
    id: 'Speech',
    method: 'POST',
    path: '/compat/v1/audio/speech',
    summary: 'Speak a text',
    body: SpeechRequest,
    response: binary('audio/mpeg', 'audio/opus', 'audio/aac', 'audio/flac', 'audio/wav', 'audio/pcm'),
    stream: 'bytes',
  }),
  Transcription: endpoint({
    ...here,
    id: 'Transcription',
    method: 'POST',
    path: '/compat/v1/audio/transcriptions',
    summary: 'Write down what is said',
    rawBody: 'multipart/form-data',
    body: TranscriptionParts,
    bodyLimit: 26 * MB,
    response: Transcription,
    chunk: TranscriptionEvent,
  }),
  Translation: endpoint({
    ...here,
    id: 'Translation',
    method: 'POST',
    path: '/compat/v1/audio/translations',
    summary: 'Write down in English what is said',
    rawBody: 'multipart/form-data',
    body: TranslationParts,
    bodyLimit: 26 * MB,
    response: Translation,
  }),
} satisfies Group;
