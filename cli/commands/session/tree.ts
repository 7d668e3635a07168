import type { Client } from '../../../src/client/client.ts';
import { formatDuration } from '../../../src/kit/duration.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { getSession, type Session } from './begin.ts';
import { cut, harmless } from './call-text.ts';
import { agentNames, statusText } from './shown.ts';
import { type SpawnNode, treeBelow } from './sub-sessions.ts';

const LONGEST_LINE = 500;
const DEEPEST = 64;

/** `svc session tree`: the agents that agents have started, drawn. */
export const tree = verb<[id: string], { json?: true }>({
  configure: (command) =>
    command.argument('<id>', 'Id of any session of the tree').option('--json', 'Print JSON'),
  about: 'Each line is an agent: its session, how it stands, its tokens, and what it was told to do.',
  examples: ['svc session tree ses_01jd...', "svc session tree ses_01jd... --json | jq -r '.[].executionId'"],
  async run(cli, [id], { json }) {
    const client = await cli.client();
    const root = await rootOf(client, id);
    const nodes = await treeBelow(client, root.id ?? id);
    if (json) {
      showJson(cli, nodes);
      return undefined;
    }
    const names = await agentNames(client);
    const { out } = cli.terminal;
    const columns = out.isTty ? out.columns : LONGEST_LINE;
    for (const line of treeLines(root, nodes, names)) cli.terminal.print(cut(line, columns));
    if (nodes.length === 0 && cli.terminal.err.isTty) cli.terminal.note('It has started no other agents.');
    return undefined;
  },
});

/** The session that people began. */
async function rootOf(client: Client, id: string): Promise<Session> {
  let session = await getSession(client, id);
  for (let depth = 0; depth < DEEPEST; depth++) {
    const above = session.metadata?.parentSessionId;
    if (typeof above !== 'string') return session;
    session = await getSession(client, above);
  }
  return session;
}

/** A tree as lines, the root first. */
export function treeLines(
  root: Session,
  nodes: readonly SpawnNode[],
  names: ReadonlyMap<string, string>,
): string[] {
  const named = (agentId = '') => harmless(names.get(agentId) ?? agentId);
  const tokens = (count = 0) => `${count} tokens`;
  const first = `${named(root.agentId)}  ${root.id}  ${statusText(root)} · ${tokens(root.totalTokens)}`;
  const below = (parent: SpawnNode | undefined, lead: string): string[] => {
    const children = nodes.filter(({ parentNodeId }) => parent?.id && parentNodeId === parent.id);
    return children.flatMap((node, i) => {
      const isLast = i === children.length - 1;
      const facts = [(node.status ?? '').replaceAll('_', ' '), tokens(node.totalTokens), tookText(node)];
      const about = facts.filter((fact) => fact !== '').join(' · ');
      const line = `${named(node.agentId)}  ${node.executionId}  ${about}  ${harmless(node.task ?? '')}`;
      return [`${lead}${isLast ? '└─ ' : '├─ '}${line}`, ...below(node, `${lead}${isLast ? '   ' : '│  '}`)];
    });
  };
  const top = nodes.find(({ parentNodeId }) => !parentNodeId);
  return [first, ...below(top, '')];
}

function tookText({ startedAt, completedAt }: SpawnNode): string {
  if (!startedAt || !completedAt) return '';
  return formatDuration(Date.parse(completedAt) - Date.parse(startedAt));
}
