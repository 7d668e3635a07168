import { sandboxCrons } from '../../../../src/api/sandbox/crons.ts';
import { showJson } from '../../../ui/show.ts';
import { relativeTime } from '../../../ui/time.ts';
import { verb } from '../../../verb.ts';
import { type CronOptions, cronFields, cronOptions } from './shared.ts';

interface Options extends CronOptions {
  schedule?: string;
  command?: string;
  enable?: true;
  disable?: true;
  json?: true;
}

/** `svc sandbox cron update`. */
export const update = verb<[id: string], Options>({
  configure: (command) =>
    cronOptions(
      command
        .argument('<id>', 'Id of a cron (see: svc sandbox cron list)')
        .option('--schedule <schedule>', 'When it runs')
        .option('--command <line>', 'What it runs')
        .option('--enable', 'Run it from now on')
        .option('--disable', 'Do not run it'),
    ),
  examples: ["svc sandbox cron update 3 --schedule '@hourly'", 'svc sandbox cron update 3 --disable'],
  async run(cli, [id], options) {
    const client = await cli.client();
    const { schedule, command } = options;
    const enabled = options.enable ?? (options.disable ? false : undefined);
    const body = { ...cronFields(options), schedule, command, enabled };
    const { cron = {} } = await client.call(sandboxCrons.UpdateCron, { params: { id }, body });
    if (options.json) showJson(cli, cron);
    else
      cli.terminal.note(
        cron.enabled ? `Runs ${relativeTime(cron.nextRunAt)}.` : `The cron ${id} is disabled.`,
      );
    return undefined;
  },
});
