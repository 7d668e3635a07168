import { port } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { makeRoomForCrowd } from '../../instance/crowd.ts';
import {
  type InstanceFlags,
  loadConfig,
  loadServe,
  loadSettings,
  settingFlags,
} from '../../instance/load.ts';
import { processMark } from '../../instance/process.ts';
import { removeDaemonRecord, writeDaemonRecord } from '../../instance/record.ts';
import { showFields } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { version } from '../../version.ts';
import { settingOf, settingText } from '../config/shared.ts';

interface Options extends InstanceFlags {
  info?: true;
}

const EXIT_BY_SIGNAL = { SIGINT: 130, SIGTERM: 143 } as const;

/** `svc serve`: the daemon in the foreground. */
export const serve = verb<[], Options>({
  about: 'SIGTERM and Ctrl-C let open requests finish; a second one ends at once. Sandboxes go on running.',
  configure: (command) =>
    command
      .option('--port <n>', 'Port to listen on; 0 picks a free one', port)
      .option('--host <address>', 'Address to listen on')
      .option('--data-dir <dir>', 'Where everything is kept (SVC_DATA_DIR, else ~/.svc)')
      .option('--config <file>', 'svc.yaml, when it is not in the data directory')
      .option('--info', 'Print the settings and end'),
  examples: ['svc serve', 'svc serve --port 9000 --data-dir ./data', 'svc serve --info'],
  async run(cli, _, options) {
    if (!options.info) makeRoomForCrowd(cli.env);
    const config = await loadConfig(options, cli.env);
    if (options.info) {
      const { SETTINGS } = await loadSettings();
      showFields(
        cli,
        config.list().map(({ key, value }) => [key, settingText(settingOf(SETTINGS, key), value)] as const),
      );
      return undefined;
    }
    const start = await loadServe();
    const ending = signalled(cli);
    const daemon = await start({ flags: settingFlags(options), configFile: options.config });
    writeDaemonRecord(config.dataDir, {
      pid: process.pid,
      mark: processMark(process.pid) ?? '',
      url: daemon.url,
      version,
      startedAt: Date.now(),
    });
    await ending;
    await daemon.stop();
    removeDaemonRecord(config.dataDir, process.pid);
    return undefined;
  },
});

/** Resolves at the first signal to end; the second one ends the process. */
function signalled(cli: Cli): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(EXIT_BY_SIGNAL[signal]);
        isStopping = true;
        if (cli.terminal.err.isTty) cli.terminal.note('Letting open requests finish; again to end at once.');
        resolve();
      });
    }
  });
}
