import { fail } from '../../../../../src/errors/app-error.ts';
import type { InboundTool } from '../../../mcp/index.ts';
import type { Tool } from '../tool.ts';

/** The tools that read the web, for clients of /mcp. */
export function inboundWebTools(tools: readonly Tool[]): InboundTool[] {
  return tools.map(({ name, description, parameters, run }) => ({
    name,
    description,
    inputSchema: parameters,
    access: 'member',
    effect: 'reads',
    async run(caller, args, signal) {
      const { ok, output } = await run(args, {
        ...{ caller, signal, sessionId: '', turnNumber: 0, callId: '' },
        get agent(): never {
          throw fail('internal');
        },
        note: () => undefined,
        tell: () => undefined,
      });
      if (!ok) throw fail('failed_precondition', { message: output });
      return output;
    },
  }));
}
