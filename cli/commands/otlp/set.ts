import { otlpSettings } from '../../../src/api/sandbox/otlp.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { list, pairs } from '../../args.ts';
import { verb } from '../../verb.ts';
import { showSettings } from './show.ts';

interface Options {
  endpoint?: string;
  header?: readonly string[];
  clearHeaders?: true;
  label?: Record<string, string>;
  clearLabels?: true;
  enable?: true;
  disable?: true;
  json?: true;
}

/** `svc otlp set`: says where metrics and traces go. */
export const set = verb<[], Options>({
  configure: (command) =>
    command
      .option('--endpoint <url>', 'Base address of an OTLP/HTTP receiver')
      .option(
        '--header <name>',
        'Header to send along, its value from SVC_OTLP_HEADER_<NAME>; repeatable',
        list,
      )
      .option('--clear-headers', 'Send no headers any more')
      .option('--label <K=V>', 'Label of everything that is sent; repeatable', pairs)
      .option('--clear-labels', 'Add no labels any more')
      .option('--enable', 'Begin to send')
      .option('--disable', 'Send nothing')
      .option('--json', 'Print JSON'),
  about:
    'What is not named stays as it is. Values of headers are secrets: they are read from the environment, never from the command line, where every process could see them. The variable of the header api-key is SVC_OTLP_HEADER_API_KEY.',
  examples: [
    'svc otlp set --endpoint https://otlp.example.com --enable',
    'SVC_OTLP_HEADER_AUTHORIZATION="Bearer $TOKEN" svc otlp set --header authorization',
    'svc otlp set --label deployment.environment.name=dev',
    'svc otlp set --disable',
  ],
  async run(cli, _, { endpoint, header, clearHeaders, label, clearLabels, enable, disable, json }) {
    if (enable && disable) throw invalid({ field: 'enable', description: 'does not go with --disable' });
    const client = await cli.client();
    const old = await client.call(otlpSettings.GetOtlpSettings);
    const added = Object.fromEntries((header ?? []).map((name) => [name, secretOf(name, cli.env)]));
    const headers = { ...(clearHeaders ? {} : old.headers), ...added };
    const extra_labels = { ...(clearLabels ? {} : old.extra_labels), ...label };
    const enabled = enable ? true : disable ? false : undefined;
    const body = { endpoint, headers, extra_labels, enabled };
    showSettings(cli, await client.call(otlpSettings.UpdateOtlpSettings, { body }), json);
    if (enable && cli.terminal.err.isTty) cli.terminal.note('Try it: svc otlp test');
    return undefined;
  },
});

function secretOf(name: string, env: Readonly<Record<string, string | undefined>>): string {
  const variable = `SVC_OTLP_HEADER_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
  const value = env[variable];
  if (!value) throw invalid({ field: `header ${name}`, description: `needs its value in ${variable}` });
  return value;
}
