import { sandboxCommand } from '../../../../src/api/sandbox/command.ts';
import { sandboxFiles } from '../../../../src/api/sandbox/files.ts';
import { sandboxLifecycle } from '../../../../src/api/sandbox/lifecycle.ts';
import { sandboxPorts } from '../../../../src/api/sandbox/ports.ts';
import { readCommand } from './command-output.ts';
import { args, type OperationTool, operationTool, optional, SANDBOX, text, texts, whole } from './define.ts';
import { readText } from './read-text.ts';

/** How long a command may run when nobody says, and at most, in milliseconds. */
const COMMAND_MS = 60_000;
const LONGEST_COMMAND_MS = 30 * 60_000;
const USUAL_LIFETIME_SECONDS = 3_600;

/** Sandboxes, for clients of /mcp. */
export const sandboxTools: readonly OperationTool[] = [
  operationTool({
    name: 'sandbox_create',
    description:
      'Makes an isolated sandbox to run code in. Answers its id. It ends by itself after its lifetime.',
    args: args({
      name: optional(text('A name for it.')),
      image: optional(text('The image to start from, such as debian:12.')),
      template: optional(text('A template in place of an image, such as python or node.')),
      memoryMb: optional(whole('Memory in MB.', 16)),
      lifetimeSeconds: optional(
        whole(`Seconds until it ends; ${USUAL_LIFETIME_SECONDS} when absent, 0 is never.`, 0),
      ),
      env: optional(texts('Environment variables.')),
    }),
    access: 'member',
    effect: 'writes',
    async run(operations, { name, image, template, memoryMb, lifetimeSeconds, env }, inner) {
      const body = {
        ...{ name, image, templateId: template, envVars: env },
        ...(memoryMb === undefined ? {} : { memoryMb: String(memoryMb) }),
        timeoutSeconds: lifetimeSeconds ?? USUAL_LIFETIME_SECONDS,
      };
      const made = await operations.call(sandboxLifecycle.CreateSandbox, { body: given(body) }, inner);
      return { id: made.id, name: made.name, image: made.image, expiresAt: made.expiresAt };
    },
  }),
  operationTool({
    name: 'sandbox_list',
    description: 'Lists the sandboxes with their states.',
    args: args({
      limit: optional(whole('How many at most.')),
      offset: optional(whole('How many to leave out.', 0)),
    }),
    access: 'viewer',
    effect: 'reads',
    async run(operations, { limit, offset }, inner) {
      const query = given({ limit: limit ?? 50, offset });
      const found = await operations.call(sandboxLifecycle.ListSandboxInstances, { query }, inner);
      const sandboxes = (found.instances ?? []).map(({ id, name, image, lifecycleState, expiresAt }) => ({
        ...{ id, name, image, state: lifecycleState, expiresAt },
      }));
      return { sandboxes, total: found.total };
    },
  }),
  operationTool({
    name: 'sandbox_exec',
    description:
      'Runs a command line in the shell of a sandbox. Answers exitCode, stdout and stderr; of long output the first part.',
    args: args({
      sandbox: SANDBOX,
      command: text('The command line.'),
      cwd: optional(text('Where it runs.')),
      env: optional(texts('Environment variables.')),
      timeoutMs: optional(whole(`Milliseconds until it is ended; ${COMMAND_MS} when absent.`)),
    }),
    access: 'member',
    effect: 'destroys',
    async run(operations, { sandbox, command, cwd, env, timeoutMs }, inner) {
      const timeout = Math.min(timeoutMs ?? COMMAND_MS, LONGEST_COMMAND_MS);
      const input = { params: { sandboxId: sandbox }, body: given({ command, cwd, envs: env, timeout }) };
      return readCommand(await operations.respond(sandboxCommand.ExecuteCommand, input, inner));
    },
  }),
  operationTool({
    name: 'sandbox_read_file',
    description: 'Reads a text file of a sandbox, or some of its lines.',
    args: args({
      sandbox: SANDBOX,
      path: text('The path of the file.'),
      offset: optional(whole('The first line, from 1.')),
      limit: optional(whole('How many lines.')),
    }),
    access: 'viewer',
    effect: 'reads',
    async run(operations, { sandbox, path, offset, limit }, inner) {
      const input = { params: { sandboxId: sandbox }, query: given({ path, offset, limit }) };
      return readText(await operations.respond(sandboxFiles.DownloadFile, input, inner));
    },
  }),
  operationTool({
    name: 'sandbox_write_file',
    description: 'Writes a text file in a sandbox, with the directories above it. What is there is replaced.',
    args: args({ sandbox: SANDBOX, path: text('The path of the file.'), content: text('The whole text.') }),
    access: 'member',
    effect: 'destroys',
    run: (operations, { sandbox, path, content }, inner) =>
      operations.call(
        sandboxFiles.WriteFile,
        { params: { sandboxId: sandbox }, query: { path }, raw: content },
        inner,
      ),
  }),
  operationTool({
    name: 'sandbox_list_files',
    description: 'Lists what is in a directory of a sandbox.',
    args: args({
      sandbox: SANDBOX,
      path: text('The path of the directory.'),
      depth: optional(whole('How many directories below each other; 1 when absent.')),
    }),
    access: 'viewer',
    effect: 'reads',
    run: (operations, { sandbox, path, depth }, inner) =>
      operations.call(
        sandboxFiles.ListDirectory,
        { params: { sandboxId: sandbox }, query: given({ path, depth }) },
        inner,
      ),
  }),
  operationTool({
    name: 'sandbox_expose_port',
    description: 'Gives a port of a sandbox an address of its own, for a web server that runs there.',
    args: args({ sandbox: SANDBOX, port: whole('The port.') }),
    access: 'member',
    effect: 'writes',
    async run(operations, { sandbox, port }, inner) {
      const input = { params: { sessionId: sandbox }, body: { port } };
      return (await operations.call(sandboxPorts.ExposePort, input, inner)).mapping;
    },
  }),
  operationTool({
    name: 'sandbox_terminate',
    description: 'Ends a sandbox for good, with all its files.',
    args: args({ sandbox: SANDBOX }),
    access: 'member',
    effect: 'destroys',
    run: (operations, { sandbox }, inner) =>
      operations.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: sandbox }, body: {} }, inner),
  }),
];

/** Without what was not said. */
function given<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as { [K in keyof T]: Exclude<T[K], undefined> };
}
