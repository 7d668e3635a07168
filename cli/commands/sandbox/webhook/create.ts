import { sandboxWebhooks } from '../../../../src/api/sandbox/webhooks.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import { duration, integer } from '../../../args.ts';
import { showFields, showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';
import { commandLine } from '../cron/shared.ts';

interface Options {
  name?: string;
  path?: string;
  workDir?: string;
  timeout?: number;
  rate?: number;
  wake: boolean;
  unsigned?: true;
  recreate?: true;
  json?: true;
}

/** `svc sandbox webhook create`: prints the address and the secret, the only time that it is shown. */
export const create = verb<[name: string, command: string[]], Options>({
  about:
    'The command reads the body of a call on its stdin, and its headers as SVC_TRIGGER_HEADER_* in its environment. One word after -- is a line for the shell; several are a program and its arguments.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<command...>', 'What to run, after --')
      .option('--name <name>', 'What it is for')
      .option('--path <path>', 'End of its address; one that cannot be guessed by itself')
      .option('--work-dir <path>', 'Directory to run in')
      .option('--timeout <duration>', 'Time after which a run is killed, such as 10m', duration)
      .option('--rate <n>', 'Most calls a minute', integer(1))
      .option('--no-wake', 'Fail in place of waking a sandbox that sleeps')
      .option('--unsigned', 'Take calls without a signature')
      .option('--recreate', 'Make a sandbox like this one when it is gone')
      .option('--json', 'Print JSON'),
  examples: [
    'svc sandbox webhook create box -- make deploy',
    "svc sandbox webhook create box --path deploy --rate 10 -- 'jq -r .ref | xargs ./deploy'",
  ],
  async run(cli, [sandboxId, words], options) {
    const client = await cli.client();
    const { webhook = {}, secret = '' } = await client.call(sandboxWebhooks.CreateWebhook, {
      body: requestOf(sandboxId, words, options),
    });
    if (options.json) {
      showJson(cli, { webhook, secret });
      return undefined;
    }
    showFields(cli, [
      ['id', webhook.id],
      ['url', webhook.url],
      ['secret', secret || undefined],
    ]);
    if (cli.terminal.err.isTty) cli.terminal.note(howToCall(webhook.url ?? '', secret));
    return undefined;
  },
});

function requestOf(sandboxId: string, words: readonly string[], options: Options) {
  const { name, path, workDir, timeout, rate, wake, unsigned, recreate } = options;
  return {
    sandboxId,
    name,
    path,
    workDir,
    unsigned,
    command: commandLine(words),
    timeoutSeconds: timeout === undefined ? undefined : Math.ceil(timeout / SECOND_MS),
    rateLimitRpm: rate,
    wake: wake ? undefined : false,
    autoRecreate: recreate,
  };
}

function howToCall(url: string, secret: string): string {
  if (secret === '') return `\nCall it:\n  curl -d '{}' ${url}`;
  return `
This is the only time that the secret is shown. Call it:
  body='{}'
  signature=$(printf %s "$body" | openssl dgst -sha256 -hmac '${secret}' -r | cut -d' ' -f1)
  curl -d "$body" -H "X-Hub-Signature-256: sha256=$signature" ${url}`;
}
