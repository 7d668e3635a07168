import { otlpSettings } from '../../../src/api/sandbox/otlp.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import { showJson } from '../../ui/show.ts';
import { printable } from '../../ui/table.ts';
import { verb } from '../../verb.ts';

/** `svc otlp test`: sends a span and says what the receiver answered. */
export const test = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  about: 'Ends with 1 when the receiver did not take the span.',
  examples: ['svc otlp test'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const answer = await client.call(otlpSettings.TestOtlpSettings);
    if (json) showJson(cli, answer);
    else cli.terminal.print(printable(answer.message));
    return answer.success ? EXIT.ok : EXIT.error;
  },
});
