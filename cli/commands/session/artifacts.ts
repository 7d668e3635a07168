import { agentArtifacts } from '../../../src/api/agents/artifacts.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { formatBytes } from '../../../src/kit/bytes.ts';
import type { Cli } from '../../cli.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

interface Options {
  readonly json?: true;
}

/** `svc session artifacts`: what a session keeps beside its conversation, or the bytes of one of them. */
export const artifacts = verb<[sessionId: string, artifactId?: string], Options>({
  configure: (command) =>
    command
      .argument('<session>', 'Id of a session')
      .argument('[artifact]', 'Id of an artifact: writes its bytes to stdout')
      .option('--json', 'Print JSON'),
  about: 'Files that the agent has handed over, and results that were too long for its model. Newest first.',
  examples: [
    'svc session artifacts ses_01jd...',
    'svc session artifacts ses_01jd... art_01jd... > report.csv',
  ],
  async run(cli, [sessionId, artifactId], { json }) {
    if (artifactId !== undefined) return download(cli, sessionId, artifactId);
    const client = await cli.client();
    const params = { sessionId };
    const { artifacts: rows = [] } = await client.call(agentArtifacts.ListSessionArtifacts, { params });
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none: 'The session has no artifacts.',
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'NAME', text: ({ name }) => name },
        { title: 'KIND', text: ({ kind }) => kind },
        {
          title: 'SIZE',
          align: 'right',
          text: ({ sizeBytes }) => formatBytes(Number(sizeBytes)),
          raw: ({ sizeBytes }) => sizeBytes,
        },
        {
          title: 'MADE',
          text: ({ createdAt }) => relativeTime(createdAt),
          raw: ({ createdAt }) => createdAt,
        },
      ],
    });
    return undefined;
  },
});

/** Bytes that are no text would spoil a terminal. */
async function download(cli: Cli, sessionId: string, artifactId: string): Promise<undefined> {
  const client = await cli.client();
  const { out } = cli.terminal;
  const response = await client.open(agentArtifacts.GetSessionArtifact, {
    params: { sessionId, artifactId },
  });
  const isText = /^text\/|\/json\b|\/xml\b/.test(response.headers.get('content-type') ?? '');
  if (out.isTty && !isText) {
    await response.body?.cancel();
    throw fail('failed_precondition', { message: 'This artifact is no text. Send it into a file: > FILE' });
  }
  for await (const piece of response.body ?? []) if (!out.write(piece)) await out.drained();
  return undefined;
}
