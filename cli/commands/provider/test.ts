import { chat } from '../../../src/api/gateway/chat.ts';
import { embeddings } from '../../../src/api/gateway/embeddings.ts';
import { compatModels } from '../../../src/api/gateway/models.ts';
import { providerCatalog } from '../../../src/api/providers/catalog.ts';
import type { Client } from '../../../src/client/client.ts';
import { RemoteError } from '../../../src/client/remote-error.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import { formatDuration } from '../../../src/kit/duration.ts';
import type { Cli } from '../../cli.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { type Status, stateOf } from './show-status.ts';

/** What is asked for where no model is known: whether the server answers shows all the same. */
const UNKNOWN_MODEL = 'default';

/** What a test has found. */
interface Finding {
  readonly ok: boolean;
  readonly tried: string;
  readonly durationMs: number;
  readonly found: string;
  /** The command that helps. */
  readonly next?: string;
}

/** `svc provider test`: calls a provider through the daemon. */
export const test = verb<[name: string], { model?: string; json?: true }>({
  configure: (command) =>
    command
      .argument('<name>', 'Name of a provider')
      .option('--model <model>', 'Ask this model a question of a few words')
      .option('--json', 'Print JSON'),
  about:
    'Asks for the list of models; where that does not tell, or with --model, a model is asked to say one word. Ends with 1 when the provider does not answer.',
  examples: ['svc provider test openai', 'svc provider test openai --model gpt-5-nano'],
  async run(cli, [name], { model, json }) {
    const client = await cli.client();
    const { provider = {} } = await client.call(providerCatalog.GetProvider, {
      params: { providerName: name },
    });
    const finding = await withSpinner(cli.terminal, `Testing ${name}`, () =>
      probe(client, name, provider, model),
    );
    show(cli, name, finding, json);
    return finding.ok ? EXIT.ok : EXIT.error;
  },
});

async function probe(
  client: Client,
  name: string,
  status: Status,
  model: string | undefined,
): Promise<Finding> {
  if (!status.isActive) return notReady(name, status);
  if (model !== undefined) return ask(client, status, model);
  const listed = await listModels(client, name);
  const closed = status.configuration?.enabledModels?.[0];
  if (listed.models.length > 0 && closed === undefined) {
    const found = `${listed.models.length} models can be called`;
    return { ok: true, tried: 'list of models', durationMs: listed.durationMs, found };
  }
  const known = closed ?? cheapest(status);
  if (known !== undefined) return ask(client, status, known);
  const finding = await ask(client, status, UNKNOWN_MODEL);
  return finding.ok ? finding : { ...finding, next: `svc provider test ${name} --model MODEL` };
}

function notReady(name: string, status: Status): Finding {
  const next = status.isConfigured ? `svc provider key list ${name}` : `svc provider add ${name}`;
  return { ok: false, tried: 'nothing', durationMs: 0, found: stateOf(status), next };
}

async function listModels(client: Client, name: string) {
  const begin = performance.now();
  const { data } = await client.call(compatModels.ListCompatModels);
  const models = data.filter(({ id }) => id.startsWith(`${name}/`));
  return { models, durationMs: performance.now() - begin };
}

async function ask(client: Client, { catalog }: Status, model: string): Promise<Finding> {
  const name = catalog?.name ?? '';
  const full = `${name}/${model}`;
  const begin = performance.now();
  const outcome = (ok: boolean, found: string, next?: string): Finding => {
    return { ok, tried: full, durationMs: performance.now() - begin, found, ...(next ? { next } : {}) };
  };
  try {
    if (catalog?.capabilities?.chat) await say(client, full);
    else await client.call(embeddings.Embeddings, { body: { model: full, input: question() } });
    return outcome(true, 'it answered');
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    return outcome(false, error.message, nextOf(error, name));
  }
}

async function say(client: Client, model: string): Promise<void> {
  const messages = [{ role: 'user' as const, content: question() }];
  await client.call(chat.ChatCompletion, { body: { model, messages } });
}

/** Never the same twice, so that no cache answers it. */
function question(): string {
  return `Say the word ok, and nothing else. (${crypto.randomUUID().slice(0, 8)})`;
}

function nextOf({ code, message }: RemoteError, name: string): string {
  if (code === 'model_not_found') return `svc provider show ${name}`;
  if (/\bkey\b/.test(message)) return `svc provider add ${name} --key-stdin`;
  return code === 'rate_limited' ? `svc provider test ${name}` : `svc provider show ${name}`;
}

/** The model that costs least, of those that talk, or else make vectors, and are no trial. */
function cheapest({ catalog }: Status): string | undefined {
  const ability = catalog?.capabilities?.chat ? 'chat' : 'embeddings';
  const talking = (catalog?.models ?? []).filter(
    ({ capabilities = [], status, inputCostPer1k = 0 }) =>
      capabilities.includes(ability) && status === 'stable' && inputCostPer1k > 0,
  );
  const [first] = talking.toSorted((a, b) => (a.outputCostPer1k ?? 0) - (b.outputCostPer1k ?? 0));
  return first?.name;
}

function show(cli: Cli, name: string, finding: Finding, json: true | undefined): void {
  if (json) {
    showJson(cli, { provider: name, ...finding, durationMs: Math.round(finding.durationMs) });
    return;
  }
  showFields(cli, [
    ['provider', name],
    ['result', finding.ok ? 'ok' : 'failed'],
    ['tried', finding.tried],
    ['found', finding.found],
    ['took', finding.durationMs > 0 ? formatDuration(finding.durationMs) : undefined],
    ['next', finding.next],
  ]);
}
