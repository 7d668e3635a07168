import { sandboxWebhooks } from '../../../../src/api/sandbox/webhooks.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import { duration, integer } from '../../../args.ts';
import { showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';

interface Options {
  name?: string;
  command?: string;
  workDir?: string;
  timeout?: number;
  rate?: number;
  enable?: true;
  disable?: true;
  json?: true;
}

/** `svc sandbox webhook update`. */
export const update = verb<[id: string], Options>({
  configure: (command) =>
    command
      .argument('<id>', 'Id of a webhook (see: svc sandbox webhook list)')
      .option('--name <name>', 'What it is for')
      .option('--command <line>', 'What it runs')
      .option('--work-dir <path>', 'Directory to run in')
      .option('--timeout <duration>', 'Time after which a run is killed, such as 10m', duration)
      .option('--rate <n>', 'Most calls a minute', integer(1))
      .option('--enable', 'Take calls from now on')
      .option('--disable', 'Answer as if it were removed')
      .option('--json', 'Print JSON'),
  examples: [
    'svc sandbox webhook update 2 --disable',
    "svc sandbox webhook update 2 --command 'make deploy'",
  ],
  async run(cli, [id], { name, command, workDir, timeout, rate, enable, disable, json }) {
    const client = await cli.client();
    const body = {
      name,
      command,
      workDir,
      timeoutSeconds: timeout === undefined ? undefined : Math.ceil(timeout / SECOND_MS),
      rateLimitRpm: rate,
      enabled: enable ?? (disable ? false : undefined),
    };
    const { webhook = {} } = await client.call(sandboxWebhooks.UpdateWebhook, { params: { id }, body });
    if (json) showJson(cli, webhook);
    else
      cli.terminal.note(
        webhook.enabled ? `The webhook ${id} takes calls.` : `The webhook ${id} is disabled.`,
      );
    return undefined;
  },
});
