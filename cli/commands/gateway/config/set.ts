import { runtimeConfig } from '../../../../src/api/config/runtime.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { verb } from '../../../verb.ts';
import {
  readAssignments,
  readFileOrStdin,
  SECTION_ARGUMENT,
  type SectionOptions,
  showSections,
} from './section.ts';

interface Options extends SectionOptions {
  file?: string;
}

/** `svc gateway config set`: changes fields of a section, or replaces it. */
export const set = verb<[section: string, fields: string[]], Options>({
  configure: (command) =>
    command
      .argument('<section>', SECTION_ARGUMENT)
      .argument('[field=value...]', 'Fields to change; lists with commas, weights as a=1,b=2')
      .option('--file <yaml>', 'Replace the whole section by this file; - reads stdin')
      .option('--yaml', 'Print YAML')
      .option('--json', 'Print JSON'),
  about:
    'It holds at once, for your organization. Fields that are not named stay as they are. When somebody else has changed the section in between, nothing is changed and the command ends with 6.',
  examples: [
    'svc gateway config set rate_limit enabled=true requests_per_minute=120 burst=20',
    'svc gateway config set cors enabled=true allowed_origins=https://app.example.com',
    'svc gateway config set load_balancer strategy=weighted weights=openai=3,groq=1',
    'svc gateway config set cache --file cache.yaml',
  ],
  async run(cli, [section, fields], { file, ...options }) {
    if ((file === undefined) === (fields.length === 0))
      throw invalid({ field: 'field=value', description: 'give fields to change, or --file' });
    const client = await cli.client();
    const params = { section };
    const body =
      file === undefined
        ? await changed(await client.call(runtimeConfig.GetRuntimeConfigSection, { params }), fields)
        : { yamlContent: await readFileOrStdin(file) };
    const now = await client.call(runtimeConfig.UpdateRuntimeConfigSection, { params, body });
    showSections(cli, [now], options);
    return undefined;
  },
});

/** The section with some fields changed; those that were never given go on following the instance. */
async function changed(old: Parameters<typeof readAssignments>[0], fields: readonly string[]) {
  const given = Object.fromEntries((old.given ?? []).map((name) => [name, old.config?.[name]]));
  return { config: { ...given, ...readAssignments(old, fields) }, version: old.version };
}
