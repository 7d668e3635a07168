import type { ToolSource } from '../tool.ts';
import { memoryQuery } from './memory-query.ts';
import { memoryStore } from './memory-store.ts';
import type { MemoryToolNeeds } from './needs.ts';

/** The tools by which models look into their memory and keep something in it. */
export function memoryTools(needs: MemoryToolNeeds): ToolSource {
  const tools = new Map([memoryQuery(needs), memoryStore(needs)].map((tool) => [tool.name, tool]));
  return { find: (_, name) => tools.get(name) };
}
