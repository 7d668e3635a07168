import type { Command } from 'commander';
import type { Input } from '../../../src/api/endpoint.ts';
import type { functions } from '../../../src/api/functions/functions.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { duration, integer, pairs } from '../../args.ts';
import { readFileOrStdin } from '../gateway/config/section.ts';

/** A function as a command wants it. */
export type Definition = Input<typeof functions.UpdateFunction>['body'];

type Pairs = Readonly<Record<string, string>>;

/** What `svc function create` and `update` take. Times are milliseconds. */
export interface DefinitionOptions {
  readonly from?: string;
  readonly description?: string;
  readonly parameters?: string;
  readonly timeout?: number;
  readonly retries?: number;
  readonly memoryMb?: number;
  readonly url?: string;
  readonly baseUrl?: string;
  readonly path?: string;
  readonly method?: string;
  readonly header?: Pairs;
  readonly query?: Pairs;
  readonly body?: Pairs;
  readonly result?: Pairs;
  readonly code?: string;
  readonly runtime?: string;
}

/** What the help says of secrets. */
export const ABOUT_SECRETS =
  'Arguments of commands can be seen by other programs of this machine: write secrets into a file for --from, or give it - and send them to stdin.';

/** Declares the options of a definition. */
export function definitionOptions(command: Command): Command {
  return command
    .option('--from <file>', 'JSON of the whole function, as the API has it; - reads stdin')
    .option('--description <text>', 'What it does, for the model that calls it')
    .option('--parameters <file>', 'JSON Schema of its arguments')
    .option('--timeout <time>', 'How long a call may take, such as 30s', duration)
    .option('--retries <count>', 'Further tries after 429, 5xx and silence', integer(0))
    .option('--memory-mb <mb>', 'Memory of code', integer(64))
    .option('--url <url>', 'Your endpoint, which gets the arguments as JSON')
    .option('--base-url <url>', 'The API that is called')
    .option('--path <path>', 'Path there, with {argument} places')
    .option('--method <method>', 'GET, POST, PUT, PATCH, DELETE or HEAD')
    .option('--header <K=V>', 'Header of the request; repeatable', pairs)
    .option('--query <K=EXPR>', 'Parameter of the API’s query; repeatable', pairs)
    .option('--body <PLACE=EXPR>', 'Place in the API’s JSON body; repeatable', pairs)
    .option('--result <PLACE=EXPR>', 'Place in the result, out of what the API answers; repeatable', pairs)
    .option('--code <file>', 'Code that runs in a sandbox; - reads stdin')
    .option('--runtime <name>', 'nodejs or python; by the ending of the file when absent');
}

/** The definition that options ask for. Errors: invalid_argument naming the option. */
export async function readDefinition(options: DefinitionOptions): Promise<Definition> {
  const base = options.from === undefined ? {} : await readJson('--from', options.from);
  const { description, timeout, retries, memoryMb, parameters } = options;
  return {
    ...(base as Definition),
    ...(description === undefined ? {} : { description }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(retries === undefined ? {} : { maxRetries: retries }),
    ...(memoryMb === undefined ? {} : { memoryMb }),
    ...(parameters === undefined ? {} : { parameters: await readJson('--parameters', parameters) }),
    ...(await readParts(options)),
  };
}

async function readParts(options: DefinitionOptions): Promise<Definition> {
  const { url, baseUrl, path, method, header, query, body, result, code, runtime } = options;
  const isProxy = [baseUrl, path, query, body, result].some((one) => one !== undefined);
  const isCode = code !== undefined || runtime !== undefined;
  const isWebhook = url !== undefined || (!isProxy && !isCode && (method ?? header) !== undefined);
  if ([isProxy, isCode, isWebhook].filter(Boolean).length > 1)
    throw invalid({ field: '--url', description: 'goes alone: one of --url, --base-url and --code' });
  if (isWebhook) return { webhook: given({ url, method, headers: header }) };
  if (isProxy) {
    const mappings = {
      queryMapping: query,
      headerMapping: header,
      bodyMapping: body,
      responseMapping: result,
    };
    return { proxy: given({ baseUrl, path, method, ...mappings }) };
  }
  if (!isCode) return {};
  const text = code === undefined ? undefined : await readFileOrStdin(code);
  return { isolated: given({ code: text, runtime: runtime ?? runtimeOf(code) }) };
}

function runtimeOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  return file.endsWith('.py') ? 'python' : 'nodejs';
}

/** Without what was not said. */
function given<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** Reads an object from a file. Errors: invalid_argument naming the option. */
export async function readJson(option: string, file: string): Promise<Record<string, unknown>> {
  return parseObject(option, await readFileOrStdin(file));
}

/** Reads an object from text. Errors: invalid_argument naming the option. */
export function parseObject(option: string, text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Said below: what is no JSON is no object either.
  }
  throw invalid({ field: option, description: 'is not a JSON object' });
}
