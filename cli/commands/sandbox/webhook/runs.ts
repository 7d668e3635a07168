import { runsOf } from '../runs.ts';

/** `svc sandbox webhook runs`. */
export const runs = runsOf('webhook', ['svc sandbox webhook runs', 'svc sandbox webhook runs 2 --json']);
