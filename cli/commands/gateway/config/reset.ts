import { runtimeConfig } from '../../../../src/api/config/runtime.ts';
import { verb } from '../../../verb.ts';
import { SECTION_ARGUMENT, type SectionOptions, showSections } from './section.ts';

/** `svc gateway config reset`: puts a section back. */
export const reset = verb<[section: string], SectionOptions>({
  configure: (command) =>
    command
      .argument('<section>', SECTION_ARGUMENT)
      .option('--yaml', 'Print YAML')
      .option('--json', 'Print JSON'),
  about: 'The section follows the configuration of the instance again.',
  examples: ['svc gateway config reset rate_limit'],
  async run(cli, [section], options) {
    const client = await cli.client();
    const now = await client.call(runtimeConfig.ResetRuntimeConfigSection, { params: { section } });
    showSections(cli, [now], options);
    return undefined;
  },
});
