import { guardrails } from '../../../src/api/gateway/guardrails.ts';
import { verb } from '../../verb.ts';

/** `svc guardrail off`: lets everything pass. What was set stays. */
export const off = verb<[], object>({
  about: 'What was set stays, for when they are switched on again: svc guardrail set enabled=true',
  examples: ['svc guardrail off'],
  async run(cli) {
    const client = await cli.client();
    const { given, version } = await client.call(guardrails.GetGuardrails);
    await client.call(guardrails.SetGuardrails, { body: { config: { ...given, enabled: false }, version } });
    cli.terminal.note('Guardrails are off.');
    return undefined;
  },
});
