import { verb } from '../../verb.ts';
import { decideFor, type SessionVerdict, sessionVerdictOptions } from './verdict.ts';

/** `svc session approve`. */
export const approve = verb<[id: string], SessionVerdict>({
  configure: (command) => sessionVerdictOptions(command, 'deny'),
  about:
    'The calls are carried out as they were shown, byte for byte. By session it is all that it waits for, its sub-agents included. Ends with 6 when nothing waits, or it was decided otherwise.',
  examples: [
    'svc session approve ses_01jd...',
    'svc session approve rev_01jd... --deny call_01jd... --reason "the second one is not needed"',
  ],
  run: (cli, [id], options) => decideFor(cli, id, 'approve', options),
});
