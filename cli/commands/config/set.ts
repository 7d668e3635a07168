import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { invalid } from '../../../src/errors/app-error.ts';
import { loadConfig, loadSettings } from '../../instance/load.ts';
import { runningDaemon } from '../../instance/record.ts';
import { readStdin } from '../../ui/prompt.ts';
import { verb } from '../../verb.ts';
import { type ConfigOptions, settingOf, withInstance } from './shared.ts';

/** `svc config set`: writes one setting into the instance's svc.yaml. */
export const set = verb<[key: string, value: string], ConfigOptions>({
  about: 'A daemon that runs takes the new value at its next start.',
  configure: (command) =>
    withInstance(
      command
        .argument('<key>', 'Setting, such as server.port')
        .argument('<value>', 'Value; - reads it from stdin, for secrets'),
    ),
  examples: [
    'svc config set server.port 9000',
    'svc config set server.hosts svc.example.com,svc.lan',
    'svc config set providers.openai.api_key - < key.txt',
  ],
  async run(cli, [key, given], options) {
    const { SETTINGS, parseSetting, writeYamlSetting } = await loadSettings();
    const setting = settingOf(SETTINGS, key);
    if (key === 'data.dir')
      throw invalid({ field: key, description: 'is where svc.yaml is: set SVC_DATA_DIR or --data-dir' });
    const raw = given === '-' ? await readStdin() : given;
    const parsed = parseSetting(setting, raw);
    if ('problem' in parsed) throw invalid({ field: key, description: parsed.problem });
    const { filePath, dataDir } = await loadConfig(options, cli.env);
    mkdirSync(dirname(filePath), { recursive: true, mode: 0o700 });
    writeYamlSetting(filePath, key, setting.type === 'duration' ? raw : parsed.value);
    cli.terminal.note(`Set ${key} in ${filePath}.`);
    if (runningDaemon(dataDir))
      cli.terminal.note('The daemon takes it at its next start: svc down && svc up');
    return undefined;
  },
});
