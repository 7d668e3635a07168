import { otlpSettings } from '../../../src/api/sandbox/otlp.ts';
import { verb } from '../../verb.ts';
import { showSettings } from './show.ts';

/** `svc otlp get`: where metrics and traces go. */
export const get = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  about: 'The values of headers are masked.',
  examples: ['svc otlp get', 'svc otlp get --json'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    showSettings(cli, await client.call(otlpSettings.GetOtlpSettings), json);
    return undefined;
  },
});
