import { RemoteError } from '../../../src/client/remote-error.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { list } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { verb } from '../../verb.ts';
import { curlLine } from './curl.ts';
import { showOperations } from './operations.ts';
import { type DescribedRequest, describeRequest } from './request.ts';

interface Options {
  data?: string;
  query?: string[];
  header?: string[];
  curl?: true;
  list?: true;
  unbuilt?: true;
  json?: true;
}

/** `svc api`: any call, with the credential added. */
export const call = verb<[method: string | undefined, path: string | undefined], Options>({
  about: 'Prints the answer as it comes, also when it is an error; the exit code tells which.',
  configure: (command) =>
    command
      .argument('[method]', 'GET, POST, PUT, PATCH or DELETE')
      .argument('[path]', 'Path, beginning with a slash')
      .option('-d, --data <json>', 'Body; @file reads a file, - reads stdin')
      .option('-q, --query <k=v>', 'Query parameter; repeatable', list)
      .option('-H, --header <header>', 'Header as "Name: value"; repeatable', list)
      .option('--curl', 'Print the same call for curl, and do nothing')
      .option('--list', 'List the operations')
      .option('--unbuilt', 'List the operations that are not built yet')
      .option('--json', 'Print the list as JSON'),
  examples: [
    'svc api GET /v1/sandbox/instances -q limit=5',
    `svc api POST /v1/sandbox -d '{"name": "box"}'`,
    'svc api POST /compat/v1/chat/completions -d @request.json',
    'svc api --list | grep sandbox',
  ],
  async run(cli, [method, path], options) {
    if (options.list || options.unbuilt) return showOperations(cli, options);
    if (!method || !path) throw invalid({ field: 'method and path', description: 'are needed, or --list' });
    const request = await describeRequest({ method, path, ...options });
    if (options.curl) cli.terminal.print(curlLine(cli.connection().url, request));
    else await send(cli, request);
    return undefined;
  },
});

async function send(cli: Cli, request: DescribedRequest): Promise<void> {
  const client = await cli.client();
  const response = await client.request(request);
  if (response.ok) {
    await printBody(cli, response);
    return;
  }
  const text = await response.text();
  const body = parseJson(text);
  cli.terminal.print(body === undefined ? text : JSON.stringify(body, null, 2));
  throw new RemoteError(response.status, body);
}

/** JSON is indented for people; everything else passes as it comes. */
async function printBody(cli: Cli, response: Response): Promise<void> {
  const { out } = cli.terminal;
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  if (isJson && out.isTty) {
    cli.terminal.print(JSON.stringify(await response.json(), null, 2));
    return;
  }
  for await (const bytes of response.body ?? []) if (!out.write(bytes)) await out.drained();
  if (isJson) out.write('\n');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
