import { dataDir } from '../../context/paths.ts';
import { loadConfig } from '../../instance/load.ts';
import { runningDaemon } from '../../instance/record.ts';
import { stopDaemon } from '../../instance/stop.ts';
import { withSpinner } from '../../ui/progress.ts';
import { verb } from '../../verb.ts';

/** Beyond the time that open requests get. */
const GRACE_MS = 5_000;

interface Options {
  dataDir?: string;
  force?: true;
}

/** `svc down`: stops this machine's daemon. */
export const down = verb<[], Options>({
  about: 'Sandboxes go on running; the next svc up finds them again.',
  configure: (command) =>
    command
      .option('--data-dir <dir>', 'Data directory of the instance (SVC_DATA_DIR, else ~/.svc)')
      .option('--force', 'Kill it when it does not end in time'),
  examples: ['svc down', 'svc down --force'],
  async run(cli, _, options) {
    const dir = dataDir(cli.env, options.dataDir);
    const record = runningDaemon(dir);
    if (!record) {
      cli.terminal.note(`No daemon runs on ${dir}.`);
      return undefined;
    }
    const config = await loadConfig({ dataDir: dir }, cli.env);
    const within = config.get('server.stop_timeout') + GRACE_MS;
    await withSpinner(cli.terminal, `Stopping the daemon (pid ${record.pid})`, () =>
      stopDaemon(record, within, options.force === true),
    );
    cli.terminal.note(
      `Stopped the daemon (pid ${record.pid}). Sandboxes go on running; svc up finds them again.`,
    );
    return undefined;
  },
});
