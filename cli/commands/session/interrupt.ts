import { agentSessions } from '../../../src/api/agents/sessions.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc session interrupt`: ends the turns that are under way, and leaves the sessions open. */
export const interrupt = verb<[ids: string[]], object>({
  configure: (command) => command.argument('<ids...>', 'Ids of sessions'),
  about:
    'Turns that wait in line end with it. What its calls have done stays done; the session takes the next turn.',
  examples: ['svc session interrupt ses_01jd...'],
  async run(cli, [ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Interrupting', (sessionId) =>
      client.call(agentSessions.InterruptTurn, { params: { sessionId }, body: {} }),
    );
  },
});
