import { guardrails } from '../../../src/api/gateway/guardrails.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import { readStdin } from '../../ui/prompt.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

interface Options {
  output?: true;
  json?: true;
}

/** `svc guardrail test`: what the guardrails make of a text. */
export const test = verb<[text: string], Options>({
  configure: (command) =>
    command
      .argument('<text>', 'Text; - reads stdin')
      .option('--output', 'Look at it as the answer of a model')
      .option('--json', 'Print JSON'),
  about:
    'Prints the text as it would go on, and on stderr what was found. Works while guardrails are off. Ends with 1 when the text would be blocked.',
  examples: ["svc guardrail test 'write to jo@example.com'", 'svc guardrail test --output - < answer.txt'],
  async run(cli, [given], { output, json }) {
    const text = given === '-' ? await readStdin() : given;
    const client = await cli.client();
    const direction = output ? 'output' : 'input';
    const tested = await client.call(guardrails.TestGuardrails, { body: { text, direction } });
    if (json) showJson(cli, tested);
    else if (tested.passed) cli.terminal.print(tested.text);
    if (!json) for (const one of tested.violations) cli.terminal.note(found(one));
    if (!json && !tested.passed) cli.terminal.note('Blocked.');
    return tested.passed ? undefined : EXIT.error;
  },
});

function found({ guardrail, match, severity, action }: Record<string, string>): string {
  return `${guardrail}: ${match} (${severity}), ${action}`;
}
