import type { Client } from '../../../src/client/client.ts';
import type { Cli } from '../../cli.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { callsText } from '../review/shown.ts';
import { findAgent, getSession, openTurn, type Session } from './begin.ts';
import { cut, harmless } from './call-text.ts';
import { questionOf } from './event-view.ts';
import { callsOf, showSession } from './shown.ts';
import { pendingBelow } from './sub-sessions.ts';

/** `svc session show`: a session, what was said and done in it, and what it waits for. */
export const show = verb<[id: string], { json?: true }>({
  configure: (command) => command.argument('<id>', 'Id of a session').option('--json', 'Print JSON'),
  examples: [
    'svc session show ses_01jd...',
    "svc session show ses_01jd... --json | jq -r '.turns[-1].assistantOutput'",
  ],
  async run(cli, [id], { json }) {
    const client = await cli.client();
    const session = await getSession(client, id);
    if (json) {
      showJson(cli, session);
      return undefined;
    }
    const agent = await findAgent(client, session.agentId ?? '');
    showSession(cli, session, agent?.name);
    await showPending(cli, client, id);
    showQuestion(cli, session);
    return undefined;
  },
});

/** What waits for leave, with the command that decides it. */
async function showPending(cli: Cli, client: Client, sessionId: string): Promise<void> {
  const { out } = cli.terminal;
  for (const review of await pendingBelow(client, sessionId)) {
    const whose = review.sessionId === sessionId ? '' : ` in the session ${review.sessionId}`;
    cli.terminal.print(`\n${out.style.yellow('? needs approval')}${whose} (${review.id})`);
    cli.terminal.print(cut(`  ${harmless(callsText(review))}`, out.isTty ? out.columns : 500));
    cli.terminal.print(`  svc review show ${review.id}`);
    cli.terminal.print(
      `  svc session approve ${review.id}   or   svc session deny ${review.id} --reason WHY`,
    );
  }
}

function showQuestion(cli: Cli, session: Session): void {
  const turn = openTurn(session);
  const asking = turn && callsOf(turn).find(({ state }) => state === 'asking');
  if (!asking) return;
  const { question, options } = questionOf({ toolArgs: asking.args });
  cli.terminal.print(`\n${cli.terminal.out.style.yellow(`? ${harmless(question)}`)}`);
  for (const [i, option] of options.entries()) cli.terminal.print(`  ${i + 1}  ${harmless(option)}`);
  cli.terminal.print(`  svc session steer ${session.id} "..."`);
}
