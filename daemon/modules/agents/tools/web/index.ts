import type { App } from '../../../../app.ts';
import type { Tool } from '../tool.ts';
import { fetchTool } from './fetch.ts';
import { searchTool } from './search.ts';

/** The tools that read the web. */
export function webTools(app: Pick<App, 'config' | 'outbound'>): Tool[] {
  return [fetchTool(app.outbound), searchTool(app)];
}
