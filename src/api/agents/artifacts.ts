import { endpoint, type Group } from '../endpoint.ts';
import { binary, fields, ids, int32, int64, model, oneOf, t, timestamp } from '../schema.ts';

/** Something that a session keeps beside its conversation: the whole of a long result, or a file that an agent has handed over. */
export const AgentArtifact = model('AgentArtifact', {
  id: t.String(),
  sessionId: t.String(),
  toolCallId: t.String({ description: 'The call that it comes from.' }),
  kind: oneOf('result', 'upload'),
  name: t.String(),
  mediaType: t.String(),
  sizeBytes: int64(),
  createdAt: timestamp(),
});

const here = { spec: 'extra', tag: 'Agent sessions' } as const;

/** What sessions keep beside their conversations. */
export const agentArtifacts = {
  ListSessionArtifacts: endpoint({
    ...here,
    id: 'ListSessionArtifacts',
    method: 'GET',
    path: '/v1/agents/sessions/{sessionId}/artifacts',
    summary: 'List the artifacts of a session, newest first',
    params: ids('sessionId'),
    query: fields({ tenantId: t.String() }),
    response: model('ListSessionArtifactsResponse', { artifacts: t.Array(AgentArtifact), total: int32() }),
    access: 'viewer',
  }),
  GetSessionArtifact: endpoint({
    ...here,
    id: 'GetSessionArtifact',
    method: 'GET',
    path: '/v1/agents/sessions/{sessionId}/artifacts/{artifactId}',
    summary: 'Download an artifact',
    params: ids('sessionId', 'artifactId'),
    query: fields({ tenantId: t.String() }),
    response: binary('application/octet-stream'),
    access: 'viewer',
    stream: 'bytes',
  }),
} satisfies Group;
