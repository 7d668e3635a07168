import { loadConfig, loadSettings } from '../../instance/load.ts';
import { showJson, showList } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { type ConfigOptions, originText, settingOf, settingText, withInstance } from './shared.ts';

interface Options extends ConfigOptions {
  origin?: true;
  json?: true;
}

/** `svc config list`: every setting of this machine's instance. */
export const list = verb<[], Options>({
  configure: (command) =>
    withInstance(command)
      .option('--origin', 'Show where each value comes from')
      .option('--json', 'Print JSON'),
  examples: ['svc config list', 'svc config list --origin | grep sandbox'],
  async run(cli, _, options) {
    const config = await loadConfig(options, cli.env);
    const { SETTINGS } = await loadSettings();
    const rows = config.list().map((resolved) => {
      const setting = settingOf(SETTINGS, resolved.key);
      return {
        key: resolved.key,
        value: settingText(setting, resolved.value),
        origin: originText(resolved),
        about: setting.about,
      };
    });
    if (options.json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none: '',
      columns: [
        { title: 'KEY', text: ({ key }) => key },
        { title: 'VALUE', text: ({ value }) => value },
        options.origin
          ? { title: 'ORIGIN', text: ({ origin }) => origin }
          : { title: 'ABOUT', text: ({ about }) => about },
      ],
    });
    return undefined;
  },
});
