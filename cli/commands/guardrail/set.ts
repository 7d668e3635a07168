import { guardrails } from '../../../src/api/gateway/guardrails.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { verb } from '../../verb.ts';
import { showGuardrails } from './shown.ts';

type Fields = Record<string, unknown>;

/** `svc guardrail set`: changes guardrails. Fields that are not named stay as they are. */
export const set = verb<[fields: string[]], { json?: true }>({
  configure: (command) =>
    command
      .argument('<field=value...>', 'Fields to change, as svc guardrail get names them; lists with commas')
      .option('--json', 'Print JSON'),
  about:
    'It holds at once, for your organization. When somebody else has changed the guardrails in between, nothing is changed and the command ends with 6.',
  examples: [
    'svc guardrail set enabled=true',
    'svc guardrail set enabled=true templates=financial,code_safety',
    'svc guardrail set input_guardrails.pii_detection.email=block',
    'svc guardrail set output_guardrails.code_execution.enabled=false',
    'svc guardrail set input_guardrails.content_filtering.categories.hate.threshold=0.5',
  ],
  async run(cli, [fields], options) {
    const client = await cli.client();
    const { given, version } = await client.call(guardrails.GetGuardrails);
    const config = structuredClone(given ?? {});
    for (const field of fields) assign(config, field);
    const now = await client.call(guardrails.SetGuardrails, { body: { config, version } });
    showGuardrails(cli, now, options);
    return undefined;
  },
});

const LISTS = new Set(['templates', 'keywords']);

function assign(config: Fields, field: string): void {
  const [path = '', ...rest] = field.split('=');
  if (rest.length === 0) throw invalid({ field, description: 'must be field=value' });
  const names = path.split('.').map(camel);
  const last = names.pop() ?? '';
  let inside: Fields = config;
  for (const name of names) {
    const inner = inside[name];
    const next: Fields = typeof inner === 'object' && inner !== null ? (inner as Fields) : {};
    inside[name] = next;
    inside = next;
  }
  inside[last] = readValue(last, rest.join('='));
}

function readValue(name: string, text: string): unknown {
  if (LISTS.has(name)) return text === '' ? [] : text.split(',').map((item) => item.trim());
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function camel(name: string): string {
  return name.trim().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
