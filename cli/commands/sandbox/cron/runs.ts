import { runsOf } from '../runs.ts';

/** `svc sandbox cron runs`. */
export const runs = runsOf('cron', ['svc sandbox cron runs', 'svc sandbox cron runs 3 --json']);
