import { Cron } from 'croner';
import { invalid } from '../../../../src/errors/app-error.ts';

/** When a cron runs. */
export interface Schedule {
  /** The first time after `ms`, in milliseconds; undefined when there is none. */
  after(ms: number): number | undefined;
}

const MAX_LENGTH = 256;

/**
 * Reads an expression of five fields (crontab(5): lists, ranges, steps, names, both day fields together mean
 * either) or a nickname such as `@hourly`. Times are those of a clock on the wall in `timezone`: what falls
 * into the hour that is left out in spring runs right after it; what stands for one time of the day runs once
 * in the hour that comes twice in autumn, what stands for every so many minutes runs on through both.
 * Errors: invalid_argument naming `schedule` or `timezone`.
 */
export function parseSchedule(expression: string, timezone: string): Schedule {
  const text = expression.trim();
  checkTimezone(timezone);
  if (text.length > MAX_LENGTH || !(text.startsWith('@') || text.split(/\s+/).length === 5))
    throw bad('must have five fields (minute hour day month weekday), or be @hourly, @daily and the like');
  const cron = read(text, timezone);
  const schedule = { after: (ms: number) => cron.nextRun(new Date(ms))?.getTime() };
  if (schedule.after(Date.now()) === undefined) throw bad('names no time that ever comes');
  return schedule;
}

function read(text: string, timezone: string): Cron {
  try {
    return new Cron(text, { timezone, mode: '5-part', paused: true });
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unreadable';
    throw bad(why.replace(/^Cron\w*: /, '').replace(/^\w/, (letter) => letter.toLowerCase()));
  }
}

function checkTimezone(timezone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    throw invalid({
      field: 'timezone',
      description: 'is not an IANA time zone such as Europe/Berlin or UTC',
    });
  }
}

function bad(description: string) {
  return invalid({ field: 'schedule', description });
}
