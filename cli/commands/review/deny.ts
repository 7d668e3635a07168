import { verb } from '../../verb.ts';
import { giveVerdict, type VerdictOptions, verdictOptions } from './verdict.ts';

/** `svc review deny`. */
export const deny = verb<[ids: string[]], VerdictOptions>({
  configure: (command) => verdictOptions(command, 'approve'),
  about:
    'The calls are not carried out; the agent is told so, with the note, and goes on. Ends with 6 when the review was decided otherwise, has expired, or was cancelled.',
  examples: [
    'svc review deny rev_01jd... --note "use the staging database"',
    'svc review deny rev_01jd... --approve call_01jd...',
  ],
  run: (cli, [ids], options) => giveVerdict(cli, ids, 'deny', options),
});
