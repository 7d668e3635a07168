import { sandboxCrons } from '../../../../src/api/sandbox/crons.ts';
import { showJson } from '../../../ui/show.ts';
import { relativeTime } from '../../../ui/time.ts';
import { verb } from '../../../verb.ts';
import { type CronOptions, commandLine, cronFields, cronOptions } from './shared.ts';

interface Options extends CronOptions {
  recreate?: true;
  json?: true;
}

/** `svc sandbox cron create`: prints the id of the new cron. */
export const create = verb<[name: string, schedule: string, command: string[]], Options>({
  about: 'One word after -- is a line for the shell; several are a program and its arguments.',
  configure: (command) =>
    cronOptions(
      command
        .argument('<name>', 'Id or name of a sandbox')
        .argument('<schedule>', 'Minute hour day month weekday, or @hourly and the like')
        .argument('<command...>', 'What to run, after --')
        .option('--recreate', 'Make a sandbox like this one when it is gone'),
    ),
  examples: [
    "svc sandbox cron create box '*/5 * * * *' -- make check",
    "svc sandbox cron create box '30 2 * * 1-5' --timezone Europe/Berlin --timeout 1h -- 'make backup >> log 2>&1'",
  ],
  async run(cli, [sandboxId, schedule, words], options) {
    const client = await cli.client();
    const body = {
      ...cronFields(options),
      sandboxId,
      schedule,
      command: commandLine(words),
      autoRecreate: options.recreate,
    };
    const { cron = {} } = await client.call(sandboxCrons.CreateCron, { body });
    if (options.json) showJson(cli, cron);
    else cli.terminal.print(cron.id ?? '');
    if (cli.terminal.err.isTty)
      cli.terminal.note(
        `Runs ${relativeTime(cron.nextRunAt)}. See how it went: svc sandbox cron runs ${cron.id}`,
      );
    return undefined;
  },
});
