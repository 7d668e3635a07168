import { Option } from 'commander';
import { RemoteError } from '../../../src/client/remote-error.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import { formatDuration } from '../../../src/kit/duration.ts';
import type { Cli } from '../../cli.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { ask, KINDS, type Kind, kindOf, type Measured } from './ask.ts';
import { nextCommand } from './next-command.ts';

/** What a test has found. */
type Finding =
  | { readonly ok: true; readonly measured: Measured }
  | { readonly ok: false; readonly error: RemoteError };

/** `svc model test`: one small call, measured. */
export const test = verb<[model: string], { as?: Kind; json?: true }>({
  configure: (command) =>
    command
      .argument('<model>', 'Name of a model, or of a route')
      .addOption(
        new Option('--as <kind>', 'What it is asked for; by its name when absent').choices([...KINDS]),
      )
      .option('--json', 'Print JSON'),
  about:
    'Asks for a few words, a vector or an order of documents. Ends with the exit code of the error when it fails.',
  examples: [
    'svc model test openai/gpt-5-nano',
    'svc model test local/bm25',
    'svc model test my-embedder --as embeddings',
  ],
  async run(cli, [model], { as = kindOf(model), json }) {
    const client = await cli.client();
    const finding = await withSpinner(cli.terminal, `Asking ${model}`, () =>
      ask(client, model, as).then(
        (measured): Finding => ({ ok: true, measured }),
        (error: unknown): Finding => ({ ok: false, error: failureOf(error) }),
      ),
    );
    if (json)
      showJson(cli, {
        model,
        kind: as,
        ...(finding.ok ? shown(finding.measured) : failed(finding.error, model)),
      });
    else show(cli, model, as, finding);
    return finding.ok ? EXIT.ok : finding.error.exit;
  },
});

/** What a daemon has answered, or said in a stream. Anything else is not the model's failing. */
function failureOf(error: unknown): RemoteError {
  if (error instanceof RemoteError) return error;
  if (error instanceof Error && error.constructor === Error)
    return new RemoteError(502, { message: error.message });
  throw error;
}

function shown({ answeredBy, firstMs, totalMs, tokens, said }: Measured) {
  return {
    ok: true,
    answeredBy,
    firstMs: firstMs && Math.round(firstMs),
    totalMs: Math.round(totalMs),
    tokens,
    tokensPerSecond: speedOf({ firstMs, totalMs, tokens }),
    said,
  };
}

function failed({ code, message }: RemoteError, model: string) {
  return { ok: false, code, message, next: nextCommand(code, message, model) };
}

function show(cli: Cli, model: string, kind: Kind, finding: Finding): void {
  if (!finding.ok) {
    const { code, message } = finding.error;
    showFields(cli, [
      ['model', model],
      ['result', 'failed'],
      ['found', message],
      ['next', nextCommand(code, message, model)],
    ]);
    return;
  }
  const { answeredBy, firstMs, totalMs, tokens, said } = finding.measured;
  const speed = speedOf(finding.measured);
  showFields(cli, [
    ['model', model],
    ['result', 'ok'],
    ['answered by', answeredBy === model ? undefined : answeredBy],
    ['first word', kind === 'chat' && firstMs !== undefined ? formatDuration(firstMs) : undefined],
    ['took', formatDuration(totalMs)],
    ['tokens', tokens?.toString()],
    ['speed', speed === undefined ? undefined : `${speed} tokens/s`],
    ['said', said.length > 120 ? `${said.slice(0, 117)}...` : said],
  ]);
}

/** Tokens a second from the first word to the last; undefined when they came at once. */
function speedOf({
  firstMs,
  totalMs,
  tokens,
}: Pick<Measured, 'firstMs' | 'totalMs' | 'tokens'>): number | undefined {
  if (firstMs === undefined || tokens === undefined || totalMs - firstMs < 1) return undefined;
  return Math.round((tokens * 1000) / (totalMs - firstMs));
}
