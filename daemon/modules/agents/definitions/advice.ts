import { matches } from '../reviews/pattern.ts';
import type { ToolSource } from '../tools/tool.ts';
import { misspelt } from './config.ts';
import type { AgentRow } from './tables.ts';
import { snapshotOf } from './wire.ts';

/**
 * What of an agent may be meant otherwise: tools that nothing brings, rules that mean none of its tools, and settings that
 * nobody reads. All of it may be right: servers, functions and keys come later.
 */
export function adviceOn(row: AgentRow, sources: readonly ToolSource[]): string[] {
  const agent = snapshotOf(row);
  const { tools, matchMode } = agent.config.approval;
  const missing =
    sources.length === 0
      ? []
      : agent.tools.filter((name) => !sources.some((source) => source.find(agent, name)));
  const idle = tools.filter((rule) => !agent.tools.some((name) => matches(matchMode, rule, name)));
  return [
    ...missing.map(
      (name) => `tools: nothing here is called ${name}; a function or an MCP server may bring it.`,
    ),
    ...idle.map((rule) => `config.approval.tools: ${rule} means none of its tools.`),
    ...misspelt(row.definition.config),
  ];
}
