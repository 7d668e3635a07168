import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { integer, positive } from '../../args.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

interface Options {
  cpu?: number;
  memoryMb?: number;
  diskMb?: number;
  json?: true;
}

/** `svc sandbox resize`: changes cores and memory, of a running sandbox at once. */
export const resize = verb<[name: string], Options>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .option('--cpu <cores>', 'Cores, such as 0.5 or 2', positive)
      .option('--memory-mb <MB>', 'Memory', integer(16))
      .option('--disk-mb <MB>', 'What it may have on the disk', integer(1))
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox resize box --cpu 2', 'svc sandbox resize box --memory-mb 2048'],
  async run(cli, [name], options) {
    const client = await cli.client();
    const { instance } = await client.call(sandboxLifecycle.ResizeSandbox, {
      params: { sandboxId: name },
      body: {
        cpuLimit: options.cpu,
        memoryMb: options.memoryMb?.toString(),
        diskMb: options.diskMb?.toString(),
      },
    });
    if (options.json) showJson(cli, instance);
    else cli.terminal.print(`${instance?.config?.cpu} cores, ${instance?.config?.memoryMb} MB`);
    return undefined;
  },
});
