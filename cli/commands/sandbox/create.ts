import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { formatDuration } from '../../../src/kit/duration.ts';
import { SECOND_MS } from '../../../src/kit/time.ts';
import { duration, integer, pairs, positive, word } from '../../args.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

interface Options {
  name?: string;
  template?: string;
  image?: string;
  cpu?: number;
  memoryMb?: number;
  diskMb?: number;
  env?: Record<string, string>;
  label?: Record<string, string>;
  timeout?: number;
  networkMode?: 'allow' | 'whitelist' | 'deny';
  idempotencyKey?: string;
  json?: true;
}

/** `svc sandbox create`: prints the id of the new sandbox. */
export const create = verb<[], Options>({
  configure: (command) =>
    command
      .option('--name <name>', 'A name, usable wherever an id is')
      .option('--template <slug>', 'Template to start from (see: svc sandbox templates)')
      .option('--image <reference>', 'Image to start from')
      .option('--cpu <cores>', 'Cores', positive)
      .option('--memory-mb <MB>', 'Memory', integer(16))
      .option('--disk-mb <MB>', 'Disk', integer(1))
      .option('--env <K=V>', 'Environment variable of its commands; repeatable', pairs)
      .option('--label <K=V>', 'Label to find it by; repeatable', pairs)
      .option('--timeout <duration>', 'Lifetime, such as 1h; 0 is without end', duration)
      .option(
        '--network, --network-mode <mode>',
        'allow, whitelist or deny',
        word('allow', 'whitelist', 'deny'),
      )
      .option('--idempotency-key <key>', 'Makes a repeated call answer the same sandbox')
      .option('--json', 'Print JSON'),
  examples: [
    'svc sandbox create --name box',
    'svc sandbox create --image host --memory-mb 1024 --network deny --timeout 2h',
    'id=$(svc sandbox create --label team=web)',
  ],
  async run(cli, _, options) {
    const client = await cli.client();
    const start = performance.now();
    const made = await withSpinner(cli.terminal, 'Creating the sandbox', () =>
      client.call(sandboxLifecycle.CreateSandbox, { body: requestOf(options) }, options),
    );
    if (options.json) showJson(cli, made);
    else cli.terminal.print(made.id ?? '');
    if (cli.terminal.err.isTty) {
      const name = made.name || made.id;
      const took = formatDuration(performance.now() - start);
      cli.terminal.note(`Created in ${took}. Go in: svc sandbox shell ${name}`);
    }
    return undefined;
  },
});

function requestOf(options: Options) {
  return {
    name: options.name,
    templateId: options.template,
    image: options.image,
    cpuLimit: options.cpu,
    memoryMb: options.memoryMb?.toString(),
    diskMb: options.diskMb?.toString(),
    envVars: options.env,
    labels: options.label,
    timeoutSeconds: options.timeout === undefined ? undefined : Math.ceil(options.timeout / SECOND_MS),
    networkMode: options.networkMode,
  };
}
