import type { Tool } from '../tool.ts';
import type { SandboxParts } from './command.ts';
import { portTool } from './port.ts';
import { readTools } from './read.ts';
import { commandTools } from './shell.ts';
import { writeTools } from './write.ts';

export type { SandboxParts } from './command.ts';
export { type Place, SessionSandboxes } from './session-sandbox.ts';

/** The tools that work in the session's own sandbox. */
export function sandboxTools(parts: SandboxParts): Tool[] {
  return [...commandTools(parts), ...readTools(parts), ...writeTools(parts), portTool(parts)];
}
