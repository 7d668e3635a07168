import { verb } from '../../verb.ts';
import { decideFor, type SessionVerdict, sessionVerdictOptions } from './verdict.ts';

/** `svc session deny`. */
export const deny = verb<[id: string], SessionVerdict>({
  configure: (command) => sessionVerdictOptions(command, 'approve'),
  about:
    'The calls are not carried out; the agent is told so, with the reason, and goes on. By session it is all that it waits for, its sub-agents included. Ends with 6 when nothing waits, or it was decided otherwise.',
  examples: [
    'svc session deny ses_01jd... --reason "use the staging database"',
    'svc session deny rev_01jd... --approve call_01jd...',
  ],
  run: (cli, [id], options) => decideFor(cli, id, 'deny', options),
});
