import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { formatDuration } from '../../../src/kit/duration.ts';
import { SECOND_MS } from '../../../src/kit/time.ts';
import { duration, integer, pairs, positive } from '../../args.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { type MountOption, objectMounts } from './mount-option.ts';
import { type NetworkOptions, networkOptions, networkRequest } from './network/options.ts';
import { type VolumeOption, volumes } from './volume-option.ts';

interface Options extends NetworkOptions {
  name?: string;
  template?: string;
  image?: string;
  snapshot?: string;
  volume?: VolumeOption[];
  mount?: MountOption[];
  cpu?: number;
  memoryMb?: number;
  diskMb?: number;
  env?: Record<string, string>;
  label?: Record<string, string>;
  timeout?: number;
  idleRetention?: number;
  autoArchiveDays?: number;
  autoDeleteDays?: number;
  gitRepoUrl?: string;
  fromGithub?: string;
  gitBranch?: string;
  sshEnabled?: true;
  wakeOnRequest?: true;
  sessionId?: string;
  idempotencyKey?: string;
  json?: true;
}

/** `svc sandbox create`: prints the id of the new sandbox. */
export const create = verb<[], Options>({
  configure: (command) =>
    networkOptions(command, '--network, --network-mode <mode>')
      .option('--name <name>', 'A name, usable wherever an id is')
      .option('--template <slug>', 'Template to start from (see: svc sandbox templates)')
      .option('--image <reference>', 'Image to start from')
      .option('--snapshot <name>', 'Snapshot to start from (see: svc snapshot list)')
      .option('--volume <name:/path>', 'Volume to mount; name/folder:/path for a part; repeatable', volumes)
      .option(
        '--mount <type=s3,bucket=B,path=/P>',
        'Bucket of an s3, r2, gcs or azure store, [,subpath=FOLDER][,endpoint=URL]; credentials by --env; repeatable',
        objectMounts,
      )
      .option('--cpu <cores>', 'Cores', positive)
      .option('--memory-mb <MB>', 'Memory', integer(16))
      .option('--disk-mb <MB>', 'Disk', integer(1))
      .option('--env <K=V>', 'Environment variable of its commands; repeatable', pairs)
      .option('--label <K=V>', 'Label to find it by; repeatable', pairs)
      .option('--timeout <duration>', 'Lifetime, such as 1h; 0 is without end', duration)
      .option('--idle, --idle-retention <duration>', 'Sleeps when unused for so long; 0 is never', duration)
      .option('--auto-archive-days <days>', 'Archived after so many days asleep; 0 is never', integer(0))
      .option(
        '--auto-delete-days <days>',
        'Deleted after so many days asleep; 0 is on stop, -1 never',
        integer(-1),
      )
      .option('--git, --git-repo-url <url>', 'Repository to clone into it')
      .option('--from-github <owner/repo>', 'Repository on GitHub to clone into it')
      .option('--git-branch <name>', 'Branch or tag to clone')
      .option('--ssh, --ssh-enabled', 'Lets people in by SSH')
      .option('--wake-on-request', 'A request to one of its ports wakes it when it sleeps')
      .option('--session-id <id>', 'Session that it belongs to')
      .option('--idempotency-key <key>', 'Makes a repeated call answer the same sandbox')
      .option('--json', 'Print JSON'),
  examples: [
    'svc sandbox create --name box',
    'svc sandbox create --image host --memory-mb 1024 --network deny --timeout 2h',
    'svc sandbox create --name app --from-github owner/repo --git-branch main --idle 30m',
    'svc sandbox create --allow-host @registries --allow-host api.example.com',
    'svc sandbox create --snapshot ready --volume data:/data',
    'svc sandbox create --mount type=s3,bucket=data,path=/data --env AWS_ACCESS_KEY_ID=$ID --env AWS_SECRET_ACCESS_KEY=$KEY',
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
    snapshotId: options.snapshot,
    mounts: mountsOf(options),
    cpuLimit: options.cpu,
    memoryMb: options.memoryMb?.toString(),
    diskMb: options.diskMb?.toString(),
    envVars: options.env,
    labels: options.label,
    timeoutSeconds: options.timeout === undefined ? undefined : Math.ceil(options.timeout / SECOND_MS),
    ...networkRequest(options),
    idleRetentionSeconds:
      options.idleRetention === undefined ? undefined : Math.ceil(options.idleRetention / SECOND_MS),
    autoArchiveAfterDays: options.autoArchiveDays,
    autoDeleteAfterDays: options.autoDeleteDays,
    gitRepoUrl: options.fromGithub ? `https://github.com/${options.fromGithub}.git` : options.gitRepoUrl,
    gitBranch: options.gitBranch,
    sshEnabled: options.sshEnabled,
    wakeOnRequest: options.wakeOnRequest,
    sessionId: options.sessionId,
  };
}

function mountsOf({ volume = [], mount = [] }: Options) {
  return volume.length + mount.length > 0 ? [...volume, ...mount] : undefined;
}
