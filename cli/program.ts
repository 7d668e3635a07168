import { Command } from 'commander';
import { Cli, type GlobalFlags } from './cli.ts';
import { tree } from './commands/tree.ts';
import type { Env } from './context/paths.ts';
import type { Terminal } from './ui/terminal.ts';
import type { Branch, Leaf } from './verb.ts';
import { version } from './version.ts';

/** What the program was started with. */
export interface Start {
  readonly terminal: Terminal;
  readonly env: Env;
}

const LOADERS = new WeakMap<Command, () => Promise<void>>();

/**
 * Reads the command line and runs the command that it names. Returns its exit code.
 * Throws what the command throws, and CommanderError for a wrong command line or after help.
 */
export async function runProgram(argv: readonly string[], start: Start): Promise<number> {
  const outcome = { code: 0 };
  const program = makeProgram(start, (code) => {
    outcome.code = code;
  });
  await program.parseAsync(withoutHelpWord(argv), { from: 'user' });
  return outcome.code;
}

/** The commands as commander has them, with nothing loaded but names and summaries. */
export function makeProgram(start: Start, done: (code: number) => void = () => undefined): Command {
  const program = base(new Command('svc'), 'svc', start.terminal)
    .description('An LLM gateway, agents and isolated sandboxes on your machine.')
    .version(`svc ${version}`, '-v, --version', 'Print the version')
    .option('--api-url <url>', 'Address of the daemon (SVC_API_URL)')
    .option('--api-key <key>', 'API key (better: SVC_API_KEY, or svc login)')
    .option('--context <name>', 'Context to use in place of the active one');
  addCommands(program, 'svc', tree, start, done);
  program.addHelpText('after', `\nStart here:\n  svc up\n\nMore on a command: svc <command> --help`);
  return program;
}

/** Loads every command, for what needs the whole tree. */
export async function loadAll(command: Command): Promise<void> {
  await LOADERS.get(command)?.();
  await Promise.all(command.commands.map(loadAll));
}

function addCommands(
  parent: Command,
  path: string,
  branch: Branch,
  start: Start,
  done: (code: number) => void,
): void {
  parent.hook('preSubcommand', async (_, child) => LOADERS.get(child)?.());
  for (const [name, entry] of Object.entries(branch.commands)) {
    const child = base(parent.createCommand(name), `${path} ${name}`, start.terminal)
      .summary(entry.summary)
      .description(entry.summary);
    parent.addCommand(child);
    child.aliases([...(entry.aliases ?? [])]);
    if ('commands' in entry) addCommands(child, `${path} ${name}`, entry, start, done);
    const { summary, load } = entry;
    if (load) LOADERS.set(child, () => configure(child, { summary, load }, start, done));
  }
}

async function configure(
  command: Command,
  leaf: Leaf,
  start: Start,
  done: (code: number) => void,
): Promise<void> {
  LOADERS.delete(command);
  const verb = await leaf.load();
  verb.configure?.(command);
  setNegatableDefaults(command);
  if (verb.about) command.description(`${leaf.summary}.\n\n${verb.about}`);
  command.addHelpText('after', `\nExamples:\n${verb.examples.map((line) => `  ${line}`).join('\n')}`);
  command.action(async () => {
    const cli = new Cli(start.terminal, start.env, globalFlags(command));
    done((await verb.run(cli, command.processedArgs, optionsOf(command))) ?? 0);
  });
}

/** A noun that does something itself takes its options wherever they stand: its verb has those that it declares too. */
function optionsOf(command: Command): Record<string, unknown> {
  const { parent } = command;
  const taken = command.options
    .map((option) => option.attributeName())
    .filter((name) => parent?.getOptionValueSource(name) === 'cli')
    .map((name) => [name, parent?.getOptionValue(name)]);
  return { ...command.opts(), ...Object.fromEntries(taken) };
}

/** `--no-x` means that x is true without it. Commander sees to that before the command is loaded. */
function setNegatableDefaults(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (option.negate && command.getOptionValue(name) === undefined) {
      command.setOptionValueWithSource(name, true, 'default');
    }
  }
}

/** A command with the manners that all share. `path` is how it is called: `svc sandbox create`. */
function base(command: Command, path: string, terminal: Terminal): Command {
  return command
    .exitOverride()
    .helpCommand(false)
    .helpOption('-h, --help', 'Show this help')
    .configureOutput({
      writeOut: (text) => terminal.out.write(text),
      writeErr: (text) => terminal.err.write(text),
      getOutHelpWidth: () => terminal.out.columns,
      getErrHelpWidth: () => terminal.err.columns,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(text.replace(/^error:/, terminal.err.style.red('error:'))),
    })
    .showHelpAfterError(`${terminal.err.style.cyan('hint:')} ${path} --help`);
}

function globalFlags(command: Command): GlobalFlags {
  const { apiUrl, apiKey, context } = command.optsWithGlobals<GlobalFlags>();
  return { apiUrl, apiKey, context };
}

/**
 * `svc` alone shows the help. `svc help sandbox create` is `svc sandbox create --help`:
 * only the latter loads the command that it explains.
 */
function withoutHelpWord(argv: readonly string[]): string[] {
  if (argv.length === 0) return ['--help'];
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
}
