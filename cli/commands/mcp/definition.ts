import type { Command } from 'commander';
import type { Input } from '../../../src/api/endpoint.ts';
import type { mcpServers } from '../../../src/api/mcp/servers.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { list, pairs } from '../../args.ts';
import { readJson } from '../function/definition.ts';
import { readFileOrStdin } from '../gateway/config/section.ts';

/** A server as a command wants it. */
export type Definition = Input<typeof mcpServers.UpdateMcpServer>['body'];

/** What `svc mcp add` and `update` take. */
export interface DefinitionOptions {
  readonly from?: string;
  readonly sse?: true;
  readonly header?: Readonly<Record<string, string>>;
  readonly bearer?: string;
  readonly serverKey?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly workDir?: string;
  readonly image?: string;
  readonly sandbox?: string;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/** What the help says of secrets. */
export const ABOUT_SECRETS =
  'Arguments of commands can be seen by other programs of this machine: give secrets in files, or - and send them to stdin.';

/** Declares the options of a definition. */
export function definitionOptions(command: Command): Command {
  return command
    .option('--from <file>', 'JSON of the whole server, as the API has it; - reads stdin')
    .option('--sse', 'It speaks the older HTTP with SSE')
    .option('--header <K=V>', 'Header that is sent to it; repeatable', pairs)
    .option('--bearer <file>', 'File with a bearer token for it')
    .option('--server-key <file>', 'File with an API key for it, sent as X-API-Key')
    .option('--env <K=V>', 'Environment variable of its program; repeatable', pairs)
    .option('--cwd, --work-dir <dir>', 'Directory that its program starts in')
    .option('--image <image>', 'Image of the sandbox that its program runs in')
    .option('--sandbox <name>', 'Run its program in this sandbox of yours')
    .option('--include <tool>', 'Offer this tool alone; repeatable', list)
    .option('--exclude <tool>', 'Do not offer this tool; repeatable', list);
}

/**
 * The definition that words and options ask for: an address, or a program with its arguments. Errors: invalid_argument
 * naming the option.
 */
export async function readDefinition(
  words: readonly string[],
  options: DefinitionOptions,
): Promise<Definition> {
  const base = options.from === undefined ? {} : ((await readJson('--from', options.from)) as Definition);
  const isAddress = words.length === 1 && /^https?:\/\//.test(words[0] ?? '');
  return {
    ...base,
    ...(isAddress ? { url: words[0] } : {}),
    ...(options.sse ? { transportType: 'MCP_TRANSPORT_TYPE_SSE' as const } : {}),
    ...(options.header ? { headers: options.header } : {}),
    ...(await readAuth(options)),
    ...readProgram(isAddress ? [] : words, base, options),
    ...readFilter(options),
  };
}

async function readAuth({
  bearer,
  serverKey,
}: {
  readonly bearer?: string;
  readonly serverKey?: string;
}): Promise<Definition> {
  if (bearer !== undefined && serverKey !== undefined)
    throw invalid({ field: '--bearer', description: 'goes alone: one of --bearer and --server-key' });
  if (bearer !== undefined)
    return { authType: 'MCP_AUTH_TYPE_BEARER', authConfig: { token: await readSecret(bearer) } };
  if (serverKey !== undefined)
    return { authType: 'MCP_AUTH_TYPE_API_KEY', authConfig: { apiKey: await readSecret(serverKey) } };
  return {};
}

function readProgram(
  [command, ...args]: readonly string[],
  base: Definition,
  { env, workDir, image, sandbox }: DefinitionOptions,
): Definition {
  const said = {
    ...(command === undefined ? {} : { command, args }),
    ...(env ? { env } : {}),
    ...(workDir === undefined ? {} : { workingDir: workDir }),
    ...(image === undefined ? {} : { image }),
    ...(sandbox === undefined ? {} : { sandboxId: sandbox }),
  };
  if (Object.keys(said).length === 0) return {};
  return { stdioConfig: { ...base.stdioConfig, ...said } };
}

function readFilter({ include, exclude }: DefinitionOptions): Definition {
  if (include && exclude)
    throw invalid({ field: '--include', description: 'goes alone: one of --include and --exclude' });
  if (include) return { toolFilter: { type: 'include', tools: [...include] } };
  return exclude ? { toolFilter: { type: 'exclude', tools: [...exclude] } } : {};
}

async function readSecret(file: string): Promise<string> {
  return (await readFileOrStdin(file)).trim();
}
