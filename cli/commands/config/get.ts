import { loadConfig, loadSettings, type SettingKey } from '../../instance/load.ts';
import { verb } from '../../verb.ts';
import { type ConfigOptions, originText, settingOf, settingText, withInstance } from './shared.ts';

interface Options extends ConfigOptions {
  origin?: true;
}

/** `svc config get`: one setting of this machine's instance. */
export const get = verb<[key: string], Options>({
  configure: (command) =>
    withInstance(command.argument('<key>', 'Setting, such as server.port')).option(
      '--origin',
      'Show where the value comes from',
    ),
  examples: ['svc config get server.port', 'svc config get sandbox.driver --origin'],
  async run(cli, [key], options) {
    const { SETTINGS } = await loadSettings();
    const setting = settingOf(SETTINGS, key);
    const resolved = (await loadConfig(options, cli.env)).resolve(key as SettingKey);
    const value = settingText(setting, resolved.value);
    cli.terminal.print(options.origin ? `${value}\t${originText(resolved)}` : value);
    return undefined;
  },
});
