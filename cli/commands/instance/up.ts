import { asAppError, fail } from '../../../src/errors/app-error.ts';
import { port } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { localInstance } from '../../context/local.ts';
import { dataDir } from '../../context/paths.ts';
import { type HostReport, inspectHost } from '../../instance/checks.ts';
import { fixCommands, runFix } from '../../instance/fix.ts';
import type { InstanceFlags } from '../../instance/load.ts';
import { type DaemonRecord, runningDaemon } from '../../instance/record.ts';
import { isReady, startDaemon } from '../../instance/start.ts';
import { shellLine } from '../../quote.ts';
import { showJson } from '../../ui/show.ts';
import { openSteps, type Steps } from '../../ui/steps.ts';
import { verb } from '../../verb.ts';
import { type SmokeTimes, smokeTest, timesText } from './smoke.ts';

interface Options extends InstanceFlags {
  fix?: true;
  smoke: boolean;
  json?: true;
}

const CONTEXT = 'local';

/** `svc up`: from nothing to a daemon that was tried. Prints its address. */
export const up = verb<[], Options>({
  about:
    'Starts the daemon in the background, stores the context "local", runs one command in a sandbox and one chat request, and says how long they took.',
  configure: (command) =>
    command
      .option('--fix', 'Install what is missing; each command is shown before it runs')
      .option('--port <n>', 'Port to listen on', port)
      .option('--host <address>', 'Address to listen on')
      .option('--data-dir <dir>', 'Where everything is kept (SVC_DATA_DIR, else ~/.svc)')
      .option('--config <file>', 'svc.yaml, when it is not in the data directory')
      .option('--no-smoke', 'Start only, and try nothing')
      .option('--json', 'Print JSON'),
  examples: ['svc up', 'svc up --fix', 'svc up --port 9000 --data-dir ./data'],
  async run(cli, _, options) {
    const dir = dataDir(cli.env, options.dataDir);
    const steps = await openSteps(cli.terminal);
    let record: DaemonRecord;
    let times: SmokeTimes | undefined;
    try {
      record = await bringUp(cli, steps, dir, options);
      times = options.smoke ? await tryOut(cli, steps, dir) : undefined;
    } finally {
      await steps.close();
    }
    const isActive = rememberLocal(cli, dir);
    if (options.json) showJson(cli, { url: record.url, pid: record.pid, dataDir: dir, ...times });
    else cli.terminal.print(record.url);
    showNext(cli, record, times, isActive);
    return undefined;
  },
});

async function bringUp(cli: Cli, steps: Steps, dir: string, options: Options): Promise<DaemonRecord> {
  const running = runningDaemon(dir);
  if (running && (await isReady(running.url))) {
    steps.note(`The daemon runs already: ${running.url} (pid ${running.pid}).`);
    return running;
  }
  const flags = { ...options, dataDir: dir };
  await checkHost(cli, steps, flags, options.fix === true);
  return steps.run('daemon', async () => {
    const record = await startDaemon(dir, flags);
    return { value: record, detail: `answers at ${record.url}, pid ${record.pid}` };
  });
}

async function checkHost(cli: Cli, steps: Steps, flags: InstanceFlags, fix: boolean): Promise<void> {
  const inspect = () =>
    steps.run('host', async () => {
      const report = await inspectHost(flags, cli.env);
      return { value: report, detail: `${summaryOf(report)}, driver ${report.driver}` };
    });
  let report = await inspect();
  const commands = fix ? fixCommands(report.findings) : [];
  for (const command of commands) {
    steps.note(`Running: ${shellLine(command)}`);
    const fixing = steps.run('fix', async (show) => {
      await runFix(command, show);
      return { value: undefined, detail: 'done' };
    });
    await fixing.catch((error: unknown) => steps.note(`Went on without it: ${asAppError(error).message}`));
  }
  if (commands.length > 0) report = await inspect();
  if (!report.usable) throw notReady(report);
}

/** What to say when the host is not ready: all that is missing, and whether packages would help. */
function notReady({ findings }: HostReport): Error {
  const missing = findings.filter(({ status }) => status === 'missing');
  const message = `This host is not ready: ${missing.map((finding) => `${finding.check}: ${finding.message}`).join('; ')}`;
  const canBeInstalled = missing.some(({ packages }) => packages !== undefined);
  return fail(canBeInstalled ? 'runtime_missing' : 'failed_precondition', { message });
}

function summaryOf({ findings }: HostReport): string {
  const count = (status: string) => findings.filter((finding) => finding.status === status).length;
  const worse = [
    [count('degraded'), 'degraded'],
    [count('missing'), 'missing'],
  ] as const;
  return [
    `${count('ok')} of ${findings.length} checks ok`,
    ...worse.flatMap(([n, word]) => (n > 0 ? [`${n} ${word}`] : [])),
  ].join(', ');
}

async function tryOut(cli: Cli, steps: Steps, dir: string): Promise<SmokeTimes> {
  const { url, apiKey } = localInstance(cli.env, dir);
  return smokeTest(await cli.clientFor(url, { apiKey }), steps);
}

/** Stores the context of this machine. Returns whether calls go there when no context is named. */
function rememberLocal(cli: Cli, dir: string): boolean {
  const { url, apiKey } = localInstance(cli.env, dir);
  cli.contexts.save({ name: CONTEXT, apiUrl: url });
  if (apiKey) cli.contexts.remember(CONTEXT, { apiKey });
  return cli.contexts.active() === CONTEXT;
}

function showNext(cli: Cli, { url }: DaemonRecord, times: SmokeTimes | undefined, isActive: boolean): void {
  const { style } = cli.terminal.err;
  const lines = [
    ...(times ? [`Tried: ${timesText(times)}.`] : []),
    `API reference: ${url}/docs`,
    ...(isActive ? [] : ['Another context is active; work with this one: svc context use local']),
    'Next:',
    '  svc sandbox create --name box',
    '  svc sandbox shell box',
    '  svc provider add anthropic',
    '  svc chat local/echo',
  ];
  for (const line of lines) cli.terminal.note(line.startsWith('  ') ? style.cyan(line) : line);
}
