import { agentSessions } from '../../../src/api/agents/sessions.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc session complete`: closes sessions for good. */
export const complete = verb<[ids: string[]], object>({
  configure: (command) => command.argument('<ids...>', 'Ids of sessions'),
  about:
    'A session that is completed takes no more turns and stays to be read. One with a turn under way is refused (6): wait for it, or cancel the session.',
  examples: ['svc session complete ses_01jd...'],
  async run(cli, [ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Completing', (sessionId) =>
      client.call(agentSessions.CompleteSession, { params: { sessionId }, body: {} }),
    );
  },
});
