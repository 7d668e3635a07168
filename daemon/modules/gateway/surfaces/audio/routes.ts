import { audio } from '../../../../../src/api/gateway/audio.ts';
import { implement, type Route } from '../../../../http/route.ts';
import { modelCall } from '../../pipeline/call.ts';
import { formHandler } from '../form/form-calls.ts';
import type { AudioSurface } from './surface.ts';

const files = { file: 'required' } as const;

/** Speech and its transcription. */
export function audioRoutes(surface: AudioSurface, directory: () => string): Route[] {
  return implement(audio, {
    Speech: (call) => surface.speak(modelCall('speech', call, call.body)),
    Transcription: formHandler(
      { endpoint: audio.Transcription, surface: 'transcriptions', files },
      directory,
      (call, over) => surface.transcribe(call, over),
    ),
    Translation: formHandler(
      { endpoint: audio.Translation, surface: 'translations', files },
      directory,
      (call, over) => surface.translate(call, over),
    ),
  });
}
