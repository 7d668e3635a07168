import { t } from '../../../../../src/api/schema.ts';
import { declareTool } from '../declare.ts';
import { done, type Tool, type ToolContext } from '../tool.ts';
import type { SandboxParts } from './command.ts';
import { inPlace } from './files.ts';

/** The tool that gives a server in the sandbox an address. Asked again, the address is the same. */
export function portTool(parts: SandboxParts): Tool {
  const run = ({ port }: { port: number }, context: ToolContext) =>
    inPlace(parts, context, async (_, { sandbox }) => {
      context.note('again');
      const { url, listens } = await parts.own.expose(context.caller, sandbox, port);
      const more = listens ? '' : ` Nothing listens on port ${port} yet.`;
      return done(`${url}${more}`);
    });
  return declareTool({
    name: 'sandbox_expose_port',
    description: 'Gives a port of your sandbox an HTTP address that people can open, and returns it.',
    parameters: t.Object({ port: t.Integer({ minimum: 1, maximum: 65_535 }) }),
    run,
    recover: run,
  });
}
