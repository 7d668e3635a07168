import type { App, Module } from '../../app.ts';
import type { FunctionsFace } from '../functions/index.ts';
import type { Converse, Embed } from '../gateway/index.ts';
import type { OwnSandboxes } from '../sandbox/index.ts';

/** What agents take from the rest of the daemon. */
export interface AgentsOptions {
  readonly converse: Converse;
  readonly embed: Embed;
  /** Tokens that a model takes; undefined when that is not known. */
  readonly contextWindow: (model: string) => number | undefined;
  readonly sandboxes: OwnSandboxes;
  readonly functions: Pick<FunctionsFace, 'find' | 'invoke'>;
}

/** Agents: definitions, sessions, turns that survive the process, tools, reviews and memories. */
export function createAgentsModule(app: App, options: AgentsOptions): Module {
  void app;
  void options;
  return { name: 'agents', routes: [] };
}
