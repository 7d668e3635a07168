import { CONFIG_SECTIONS, runtimeConfig } from '../../../../src/api/config/runtime.ts';
import { verb } from '../../../verb.ts';
import { SECTION_ARGUMENT, type SectionOptions, showSections } from './section.ts';

/** `svc gateway config get`: what is in force. */
export const get = verb<[section: string | undefined], SectionOptions>({
  configure: (command) =>
    command
      .argument('[section]', SECTION_ARGUMENT)
      .option('--yaml', 'Print YAML, which set and validate take')
      .option('--json', 'Print JSON'),
  about: 'This is what your organization has changed over the configuration of the instance (svc config).',
  examples: ['svc gateway config get', 'svc gateway config get cors --yaml'],
  async run(cli, [section], options) {
    const client = await cli.client();
    const names = section ? [section] : CONFIG_SECTIONS;
    const sections = await Promise.all(
      names.map((name) => client.call(runtimeConfig.GetRuntimeConfigSection, { params: { section: name } })),
    );
    showSections(cli, sections, options);
    return undefined;
  },
});
