import { agentDefinitions } from '../../../src/api/agents/definitions.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { type AgentOptions, agentOptions, readAgent } from './options.ts';
import { showWarnings } from './shown.ts';

/** `svc agent create`: prints the id. */
export const create = verb<[name: string | undefined], AgentOptions & { hidden?: true; json?: true }>({
  configure: (command) =>
    agentOptions(command.argument('[name]', 'Its name; the one in --file when absent'))
      .option('--hidden', 'Leave it out of lists')
      .option('--json', 'Print JSON'),
  about:
    'An agent calls no tool that is not named. What it may do without asking: --permission and --approve.',
  examples: [
    'svc agent create helper --model openai/gpt-5 --prompt "You are brief."',
    'svc agent create coder --model anthropic/claude-sonnet-5 --prompt-file coder.md --tool sandbox_shell,sandbox_write_file --approve sandbox_shell',
    'svc agent create coder-2 --file coder.yaml --set sandbox.networkMode=deny',
    'svc agent get coder --yaml | svc agent create copy --file -',
  ],
  async run(cli, [name], { hidden, json, ...options }) {
    const { enabled, clearTools: _none, ...wanted } = await readAgent(options);
    const body = { ...wanted, ...(name === undefined ? {} : { name }), ...(hidden ? { hidden } : {}) };
    const client = await cli.client();
    let { agent = {}, warnings } = await client.call(agentDefinitions.CreateAgent, { body });
    if (enabled === false && agent.id) {
      const off = { params: { id: agent.id }, body: { enabled } };
      agent = (await client.call(agentDefinitions.UpdateAgent, off)).agent ?? agent;
    }
    showWarnings(cli, warnings);
    if (json) showJson(cli, agent);
    else cli.terminal.print(agent.id ?? '');
    if (cli.terminal.err.isTty) cli.terminal.note(`See it: svc agent get ${agent.name}`);
    return undefined;
  },
});
