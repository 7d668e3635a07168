import { mcpTools } from '../../../src/api/mcp/tools.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { parseObject } from '../function/definition.ts';
import { readFileOrStdin } from '../gateway/config/section.ts';

/** `svc mcp call`: the answer on stdout. */
export const call = verb<[tool: string, text: string | undefined], { server?: string; json?: true }>({
  configure: (command) =>
    command
      .argument('<tool>', 'mcp__SERVER__TOOL, or the name of a tool with --server')
      .argument('[arguments]', 'JSON object; - reads stdin; {} when absent')
      .option('--server <name>', 'Name or id of the server')
      .option('--json', 'Print the whole answer as JSON'),
  about: 'Ends with 1 when the tool fails.',
  examples: [
    `svc mcp call mcp__docs__search '{"query": "sandboxes"}'`,
    'svc mcp call read_graph --server memory',
    'svc mcp call mcp__files__write_file - < arguments.json',
  ],
  async run(cli, [toolName, text = '{}'], { server: serverId, json }) {
    const args = parseObject('arguments', text === '-' ? await readFileOrStdin('-') : text);
    const client = await cli.client();
    const { result = {} } = await withSpinner(cli.terminal, `Calling ${toolName}`, () =>
      client.call(mcpTools.CallTool, {
        body: { toolName, arguments: args, ...(serverId ? { serverId } : {}) },
      }),
    );
    const isDone = result.status === 'MCP_TOOL_CALL_STATUS_SUCCESS';
    if (json) showJson(cli, result);
    else if (isDone) cli.terminal.print(result.output ?? '');
    else cli.terminal.err.write(`${toolName}: ${result.error ?? 'failed'}\n`);
    return isDone ? undefined : EXIT.error;
  },
});
