import { functions } from '../../../src/api/functions/functions.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { readFileOrStdin } from '../gateway/config/section.ts';
import { parseObject } from './definition.ts';

/** `svc function invoke`: the result on stdout, what code printed on stderr. */
export const invoke = verb<[name: string, text: string | undefined], { json?: true }>({
  configure: (command) =>
    command
      .argument('<name>', 'Name or id of a function')
      .argument('[arguments]', 'JSON object; - reads stdin; {} when absent')
      .option('--json', 'Print the whole answer as JSON'),
  about: 'Text is printed as it is, anything else as JSON. Ends with 1 when the function fails.',
  examples: [
    `svc function invoke sum '{"a": 1, "b": 2}'`,
    'svc function invoke import - < rows.json',
    'svc function invoke sum --json | jq .durationMs',
  ],
  async run(cli, [id, text = '{}'], { json }) {
    const args = parseObject('arguments', text === '-' ? await readFileOrStdin('-') : text);
    const client = await cli.client();
    const answer = await withSpinner(cli.terminal, `Calling ${id}`, () =>
      client.call(functions.InvokeFunction, { params: { id }, body: { arguments: args } }),
    );
    if (json) showJson(cli, answer);
    else {
      if (answer.logs) cli.terminal.err.write(answer.logs.endsWith('\n') ? answer.logs : `${answer.logs}\n`);
      if (answer.status !== 'success') cli.terminal.err.write(`${id} ${answer.error ?? 'failed'}\n`);
      else if (typeof answer.result === 'string') cli.terminal.print(answer.result);
      else showJson(cli, answer.result);
    }
    return answer.status === 'success' ? undefined : EXIT.error;
  },
});
