import { agentDefinitions } from '../../../src/api/agents/definitions.ts';
import type { Client } from '../../../src/client/client.ts';
import { list } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { verb } from '../../verb.ts';
import { fromText, toYaml, type WantedAgent } from './document.ts';
import { openInEditor } from './editor.ts';
import { type AgentOptions, agentOptions, readAgent } from './options.ts';
import { type ShownAgent, type ShowOptions, showAgent, showWarnings } from './shown.ts';

interface Changes extends AgentOptions {
  readonly rename?: string;
  readonly addTool?: string[];
  readonly dropTool?: string[];
  readonly clearTools?: true;
  readonly on?: true;
  readonly off?: true;
  readonly hide?: true;
  readonly show?: true;
}

const HEADING =
  '# Save to change the agent, leave it as it is to change nothing. A line that is removed stays what it was.\n';

/** `svc agent edit`: by options, or in an editor. */
export const edit = verb<[name: string], Changes & ShowOptions>({
  configure: (command) =>
    agentOptions(command.argument('<name>', 'Name, alias or id of an agent'))
      .option('--rename <name>', 'Give it another name')
      .option('--add-tool <name>', 'One more tool; repeatable', list)
      .option('--drop-tool <name>', 'One tool less; repeatable', list)
      .option('--clear-tools', 'No tools at all')
      .option('--on', 'Let it be used')
      .option('--off', 'Let it not be used')
      .option('--hide', 'Leave it out of lists')
      .option('--show', 'Have it in lists')
      .option('--yaml', 'Print YAML')
      .option('--json', 'Print JSON'),
  about:
    'Without options its YAML is opened in $VISUAL or $EDITOR. What is not named stays. The next session has it; sessions that run keep what they began with.',
  examples: [
    'svc agent edit coder',
    'svc agent edit coder --add-tool web_fetch --approve web_fetch',
    'svc agent edit coder --set sandbox.image=python:3.13 --set monitor.enabled=true',
    'svc agent edit coder --off',
  ],
  async run(cli, [id], { json, yaml, ...changes }) {
    const client = await cli.client();
    const { agent: current = {} } = await client.call(agentDefinitions.GetAgent, { params: { id } });
    const agent =
      Object.keys(changes).length === 0
        ? await editByHand(cli, client, current)
        : await send(cli, client, current, await wantedOf(changes, current));
    if (agent) showAgent(cli, agent, { json, yaml });
    else cli.terminal.note('Nothing was changed.');
    return undefined;
  },
});

async function wantedOf(changes: Changes, current: ShownAgent): Promise<WantedAgent> {
  const { rename, addTool = [], dropTool = [], clearTools, on, off, hide, show, ...options } = changes;
  const wanted = await readAgent(options, current);
  const before = clearTools || wanted.clearTools ? [] : (wanted.tools ?? current.tools ?? []);
  const tools = [...new Set([...before, ...addTool])].filter((tool) => !dropTool.includes(tool));
  const isOther = clearTools || addTool.length > 0 || dropTool.length > 0;
  return {
    ...wanted,
    ...(rename === undefined ? {} : { name: rename }),
    ...(isOther ? { tools, clearTools: tools.length === 0 } : {}),
    ...(on || off ? { enabled: on === true } : {}),
    ...(hide || show ? { hidden: hide === true } : {}),
  };
}

/** What an editor makes of an agent. What is refused is kept for another try. */
async function editByHand(cli: Cli, client: Client, current: ShownAgent): Promise<ShownAgent | undefined> {
  const edited = await openInEditor(cli, HEADING + toYaml(current), `${current.id}.yaml`);
  if (!edited) return undefined;
  try {
    const agent = await send(cli, client, current, fromText(edited.text, edited.file));
    edited.discard();
    return agent;
  } catch (error) {
    cli.terminal.note(`Your text is kept. Try again: svc agent edit ${current.id} --file ${edited.file}`);
    throw error;
  }
}

/** Sends a change of the version that was seen: one that came in between is not lost. */
async function send(
  cli: Cli,
  client: Client,
  { id = '', version }: ShownAgent,
  wanted: WantedAgent,
): Promise<ShownAgent> {
  const body = { ...wanted, version };
  const { agent = {}, warnings } = await client.call(agentDefinitions.UpdateAgent, { params: { id }, body });
  showWarnings(cli, warnings);
  return agent;
}
