import { agentDefinitions } from '../../../src/api/agents/definitions.ts';
import type { Client } from '../../../src/client/client.ts';
import { formatDuration } from '../../../src/kit/duration.ts';
import type { Cli } from '../../cli.ts';
import { showFields } from '../../ui/show.ts';
import { printable } from '../../ui/table.ts';
import { relativeTime } from '../../ui/time.ts';
import type { Session, Turn } from './begin.ts';
import { callLine, harmless } from './call-text.ts';
import type { AgentEvent } from './feed.ts';

const PAGE = 200;
const LONGEST_LINE = 500;

/** `created`, `running`, `waiting for approval` and so on. */
export function statusText({ status }: Pick<Session, 'status'>): string {
  return status?.replace('SESSION_STATUS_', '').toLowerCase().replaceAll('_', ' ') ?? '';
}

/** An event as one line of NDJSON, its number first. */
export function ndjson(id: number, event: AgentEvent): string {
  return JSON.stringify({ id, ...event });
}

/** The names of all agents, by their ids. */
export async function agentNames(client: Client): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (let offset = 0; ; offset += PAGE) {
    const query = { includeHidden: true, limit: PAGE, offset };
    const { agents = [] } = await client.call(agentDefinitions.ListAgents, { query });
    for (const { id = '', name = '' } of agents) names.set(id, name);
    if (agents.length < PAGE) return names;
  }
}

/** Prints a session with its turns. */
export function showSession(cli: Cli, session: Session, agent: string | undefined): void {
  const { turns = [], metadata = {}, createdAt, updatedAt, completedAt } = session;
  const when = (at: string | undefined) => at && `${at} (${relativeTime(at)})`;
  showFields(cli, [
    ['id', session.id],
    ['agent', agent ? `${agent} (${session.agentId})` : session.agentId],
    ['status', statusText(session)],
    ['turns', String(session.turnCount ?? 0)],
    ['tokens', String(session.totalTokens ?? 0)],
    ['metadata', Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : undefined],
    ['created', when(createdAt)],
    ['changed', when(updatedAt)],
    ['ended', when(completedAt)],
  ]);
  for (const turn of turns) showTurn(cli, turn);
}

function showTurn(cli: Cli, turn: Turn): void {
  const { out } = cli.terminal;
  const { turnNumber, status = '', userInput = '', assistantOutput = '', error, latencyMs } = turn;
  const state = status.replace('TURN_STATUS_', '').toLowerCase();
  const took = turn.completedAt ? ` · ${formatDuration(Number(latencyMs ?? 0))}` : '';
  const head = out.style.bold(`turn ${turnNumber}`);
  cli.terminal.print(`\n${head} · ${state} · ${turn.totalTokens ?? 0} tokens${took}`);
  cli.terminal.print(indented('> ', printable(userInput)));
  for (const line of callLines(turn, out.isTty ? out.columns - 2 : LONGEST_LINE))
    cli.terminal.print(`  ${out.style.dim(line)}`);
  if (assistantOutput !== '') cli.terminal.print(indented('  ', printable(assistantOutput.trimEnd())));
  if (error) cli.terminal.print(`  ${out.style.red(harmless(error))}`);
}

/** A call as a turn shows it (`toolCalls`). */
export interface TurnCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
  readonly success?: boolean;
  readonly result?: string;
  readonly durationMs?: number;
  /** While it is not over. */
  readonly state?: string;
}

/** The calls of a turn. */
export function callsOf({ toolCalls }: Turn): TurnCall[] {
  return JSON.parse(toolCalls || '[]') as TurnCall[];
}

function callLines(turn: Turn, columns: number): string[] {
  return callsOf(turn).map(({ name, args, success, result, durationMs, state }) =>
    callLine({ name, args, ok: success, result: result ?? WAITS[state ?? ''] ?? state, durationMs }, columns),
  );
}

/** What a call that is not over waits for. */
const WAITS: Readonly<Record<string, string>> = {
  reviewed: 'waits for approval',
  asking: 'waits for an answer',
};

/** A text behind a lead, its other lines as far in. */
export function indented(lead: string, text: string): string {
  return `${lead}${text.replaceAll('\n', `\n${' '.repeat(lead.length)}`)}`;
}
