import { configValidation } from '../../../../src/api/config/validation.ts';
import { EXIT } from '../../../../src/errors/codes.ts';
import { showJson, showList } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';
import { readFileOrStdin } from './section.ts';

/** `svc gateway config validate`: looks at a file without applying it. */
export const validate = verb<[file: string], { json?: true }>({
  configure: (command) =>
    command.argument('<file>', 'YAML with sections by name; - reads stdin').option('--json', 'Print JSON'),
  about: 'Nothing is changed. Ends with 1 when the configuration is not valid.',
  examples: [
    'svc gateway config validate gateway.yaml',
    'svc gateway config get --yaml | svc gateway config validate -',
  ],
  async run(cli, [file], { json }) {
    const client = await cli.client();
    const yamlConfig = await readFileOrStdin(file);
    const result = await client.call(configValidation.ValidateYAML, { body: { yamlConfig } });
    const { valid, errors = [], warnings = [], status } = result;
    if (json) showJson(cli, result);
    else
      showList(cli, {
        rows: [
          ...errors.map((one) => ({ ...one, kind: 'error' })),
          ...warnings.map((one) => ({ ...one, kind: 'warning' })),
        ],
        none: status?.message ?? '',
        columns: [
          { title: 'KIND', text: ({ kind }) => kind },
          { title: 'FIELD', text: ({ field }) => field ?? '' },
          { title: 'WHAT', text: ({ message }) => message ?? '' },
        ],
      });
    return valid ? EXIT.ok : EXIT.error;
  },
});
