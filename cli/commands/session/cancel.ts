import { agentSessions } from '../../../src/api/agents/sessions.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc session cancel`: ends sessions and what they do, for good. */
export const cancel = verb<[ids: string[]], object>({
  configure: (command) => command.argument('<ids...>', 'Ids of sessions'),
  about:
    'The turn, its calls, its questions and the agents that it has started end. A session that is cancelled takes no more turns. To end the turn alone: svc session interrupt.',
  examples: ['svc session cancel ses_01jd...'],
  async run(cli, [ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Cancelling', (sessionId) =>
      client.call(agentSessions.CancelSession, { params: { sessionId }, body: {} }),
    );
  },
});
