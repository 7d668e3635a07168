import { guardrails } from '../../../src/api/gateway/guardrails.ts';
import { verb } from '../../verb.ts';
import { showGuardrails } from './shown.ts';

/** `svc guardrail get`: the guardrails that are in force. */
export const get = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  examples: ['svc guardrail get', 'svc guardrail get --json'],
  async run(cli, _, options) {
    const client = await cli.client();
    showGuardrails(cli, await client.call(guardrails.GetGuardrails), options);
    return undefined;
  },
});
