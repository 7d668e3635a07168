import { asAppError } from '../../../src/errors/app-error.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import { port } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { inspectHost } from '../../instance/checks.ts';
import { fixCommands, runFix } from '../../instance/fix.ts';
import type { Finding, InstanceFlags } from '../../instance/load.ts';
import { shellLine } from '../../quote.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

interface Options extends InstanceFlags {
  fix?: true;
  json?: true;
}

/** `svc doctor`: whether this host can run an instance. Exit code 1 when it cannot. */
export const doctor = verb<[], Options>({
  configure: (command) =>
    command
      .option('--fix', 'Install what is missing; each command is shown before it runs')
      .option('--data-dir <dir>', 'Data directory of the instance (SVC_DATA_DIR, else ~/.svc)')
      .option('--port <n>', 'Port that it is to listen on', port)
      .option('--json', 'Print JSON'),
  examples: ['svc doctor', 'svc doctor --fix', 'svc doctor --json | jq .findings'],
  async run(cli, _, options) {
    const inspect = () =>
      withSpinner(cli.terminal, 'Looking at this host', () => inspectHost(options, cli.env));
    let report = await inspect();
    if (options.fix) {
      for (const command of fixCommands(report.findings)) {
        cli.terminal.note(`Running: ${shellLine(command)}`);
        const fixing = runFix(command, (line) => cli.terminal.note(cli.terminal.err.style.dim(line)));
        await fixing.catch((error: unknown) => cli.terminal.note(asAppError(error).message));
      }
      report = await inspect();
    }
    if (options.json) showJson(cli, report);
    else for (const finding of report.findings) cli.terminal.print(findingLine(cli, finding));
    if (!report.usable && !options.fix) cli.terminal.note('Install what is missing: svc doctor --fix');
    return report.usable ? EXIT.ok : EXIT.error;
  },
});

/** One finding as a line: its mark, its name, what was found. */
export function findingLine(cli: Cli, { check, status, message }: Finding): string {
  const { isTty, style } = cli.terminal.out;
  if (!isTty) return `${status}\t${check}\t${message}`;
  const mark = { ok: style.green('✓'), degraded: style.yellow('!'), missing: style.red('✗') }[status];
  return `${mark} ${check.padEnd(12)} ${message}`;
}
