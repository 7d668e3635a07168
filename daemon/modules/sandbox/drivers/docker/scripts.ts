import init from './scripts/init.sh' with { type: 'text' };
import kill from './scripts/kill.sh' with { type: 'text' };
import launch from './scripts/launch.sh' with { type: 'text' };

/**
 * The shell programs that the driver runs inside a box. Everything that varies arrives as an argument;
 * nothing is ever pasted into their text.
 */
export const SCRIPTS = { init, kill, launch } as const;

/** Where the box's exchange folder is inside the box. */
export const EXCHANGE = '/run/svc';
