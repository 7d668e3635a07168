import { verb } from '../../verb.ts';
import { giveVerdict, type VerdictOptions, verdictOptions } from './verdict.ts';

/** `svc review approve`. */
export const approve = verb<[ids: string[]], VerdictOptions>({
  configure: (command) => verdictOptions(command, 'deny'),
  about:
    'The calls are carried out as they were shown, byte for byte. Ends with 6 when the review was decided otherwise, has expired, or was cancelled.',
  examples: [
    'svc review approve rev_01jd...',
    'svc review approve rev_01jd... --deny call_01jd... --note "the second one is not needed"',
  ],
  run: (cli, [ids], options) => giveVerdict(cli, ids, 'approve', options),
});
