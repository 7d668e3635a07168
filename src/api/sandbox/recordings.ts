import { endpoint, type Group } from '../endpoint.ts';
import { binary, empty, ids, int32, int64, model, object, oneOf, t, timestamp } from '../schema.ts';

/** A recording of the screen of a sandbox. */
export const Recording = object(
  'Recording',
  {
    id: t.String(),
    fileName: t.String(),
    startTime: timestamp(),
    status: oneOf('active', 'completed', 'failed'),
  },
  { endTime: timestamp(), durationSeconds: t.Number(), sizeBytes: int64() },
);

const here = { spec: 'guide', tag: 'Computer use' } as const;

/** Recordings of the screen of a sandbox. */
export const sandboxRecordings = {
  StartRecording: endpoint({
    ...here,
    id: 'StartRecording',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/computer/recording/start',
    summary: 'Start to record the screen',
    params: ids('sandboxId'),
    body: model('StartRecordingRequest', { label: t.String(), fps: int32({ minimum: 1, maximum: 30 }) }),
    response: object('StartRecordingResponse', { recording_id: t.String() }),
    access: 'member',
    unbuilt: true,
  }),
  StopRecording: endpoint({
    ...here,
    id: 'StopRecording',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/computer/recording/stop',
    summary: 'Stop a recording',
    params: ids('sandboxId'),
    body: object('StopRecordingRequest', { recording_id: t.String({ minLength: 1 }) }),
    response: Recording,
    access: 'member',
    unbuilt: true,
  }),
  ListRecordings: endpoint({
    ...here,
    id: 'ListRecordings',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/computer/recordings',
    summary: 'List the recordings',
    params: ids('sandboxId'),
    response: object('ListRecordingsResponse', { recordings: t.Array(Recording) }),
    access: 'viewer',
    unbuilt: true,
  }),
  DownloadRecording: endpoint({
    ...here,
    id: 'DownloadRecording',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/computer/recordings/{id}/download',
    summary: 'Download a recording as MP4',
    params: ids('sandboxId', 'id'),
    response: binary('video/mp4'),
    stream: 'bytes',
    access: 'viewer',
    unbuilt: true,
  }),
  DeleteRecording: endpoint({
    ...here,
    id: 'DeleteRecording',
    method: 'DELETE',
    path: '/v1/sandbox/{sandboxId}/computer/recordings/{id}',
    summary: 'Delete a recording that has ended',
    params: ids('sandboxId', 'id'),
    response: empty,
    status: 204,
    access: 'member',
    unbuilt: true,
  }),
} satisfies Group;
