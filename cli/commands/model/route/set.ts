import { Option } from 'commander';
import { modelRoutes } from '../../../../src/api/gateway/model-routes.ts';
import { pairs } from '../../../args.ts';
import { showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';
import { readTarget } from './target.ts';

const STRATEGIES = ['priority', 'round_robin', 'weighted', 'least_connections', 'parallel'] as const;

/** What `svc model route set` takes. */
interface Options {
  readonly strategy: (typeof STRATEGIES)[number];
  readonly param?: Readonly<Record<string, string>>;
  readonly json?: true;
}

/** `svc model route set`: an alias with one target, a fallback chain with several. */
export const set = verb<[name: string, targets: string[]], Options>({
  configure: (command) =>
    command
      .argument('<name>', 'The name that calls use')
      .argument(
        '<targets...>',
        'PROVIDER/MODEL or PROVIDER/MODEL=WEIGHT, in the order in which they are tried',
      )
      .addOption(
        new Option('--strategy <how>', 'How the targets are tried').choices(STRATEGIES).default('priority'),
      )
      .option('--param <field=json>', 'A field that replaces the one of the request; may be repeated', pairs)
      .option('--json', 'Print JSON'),
  examples: [
    'svc model route set fast groq/llama-3.3-70b-versatile openai/gpt-4o-mini',
    'svc model route set gpt-4o azure/gpt-4o=3 openai/gpt-4o=1 --strategy weighted',
    'svc model route set strict openai/gpt-4o --param temperature=0',
  ],
  about:
    'The next target is tried after 429, timeouts, 5xx and broken connections, as long as nothing of an answer has come. A route goes before a model of the same name.',
  async run(cli, [name, targets], { strategy, param = {}, json }) {
    const parameters = Object.fromEntries(
      Object.entries(param).map(([field, text]) => [field, readValue(text)]),
    );
    const client = await cli.client();
    const body = { strategy, targets: targets.map((target) => ({ ...readTarget(target), parameters })) };
    const { route } = await client.call(modelRoutes.PutModelRoute, { params: { name }, body });
    if (json) showJson(cli, route);
    else cli.terminal.print(route.name);
    if (cli.terminal.err.isTty) cli.terminal.note(`Try it: svc model test ${name}`);
    return undefined;
  },
});

/** A value that is not JSON is text. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
