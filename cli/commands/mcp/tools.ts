import { mcpTools } from '../../../src/api/mcp/tools.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson, showList } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc mcp tools`: those of all servers under the names that agents use, or what one server says now. */
export const tools = verb<[server: string | undefined], { json?: true; prefix?: string }>({
  configure: (command) =>
    command
      .argument('[server]', 'Name or id of a server: it is asked for its tools now')
      .option('--prefix <text>', 'Names that begin so')
      .option('--json', 'Print JSON'),
  about:
    'Without a server: the tools that agents may have, after the filters, from what the servers said last. With one: all that it has, asked now.',
  examples: [
    'svc mcp tools',
    'svc mcp tools docs',
    "svc mcp tools --json | jq '.[] | {name, inputSchema}'",
    'svc mcp tools --prefix mcp__docs__',
  ],
  async run(cli, [serverId], { json, prefix: namePrefix = '' }) {
    const client = await cli.client();
    const { tools: found = [] } =
      serverId === undefined
        ? await client.call(mcpTools.ListFederatedTools, { query: { namePrefix } })
        : await withSpinner(cli.terminal, `Asking ${serverId}`, () =>
            client.call(mcpTools.DiscoverTools, { params: { serverId } }),
          );
    const rows = found.filter(({ name }) => name?.startsWith(namePrefix));
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none: 'There are no tools.',
      columns: [
        { title: 'NAME', text: ({ name }) => name },
        { title: 'TAKES', text: ({ inputSchema }) => argumentsText(inputSchema) },
        { title: 'DOES', text: ({ description }) => description?.split('\n')[0]?.slice(0, 80) },
      ],
    });
    return undefined;
  },
});

/** The names of arguments; those that may be absent with a question mark. */
function argumentsText(schema: Readonly<Record<string, unknown>> = {}): string {
  const { properties, required } = schema as { properties?: object; required?: readonly string[] };
  return Object.keys(properties ?? {})
    .map((name) => (required?.includes(name) ? name : `${name}?`))
    .join(' ');
}
