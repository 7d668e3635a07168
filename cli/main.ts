import { version } from './version.ts';

/** Runs one command line and ends with its exit code. The one place where an error becomes an exit code. */
async function main(argv: readonly string[]): Promise<void> {
  if (argv.length === 1 && /^(-v|--version|version)$/.test(argv[0] ?? '')) {
    process.stdout.write(`svc ${version}\n`);
    return;
  }
  const { processTerminal } = await import('./ui/terminal.ts');
  const terminal = processTerminal(process.env);
  let code: number;
  try {
    const { runProgram } = await import('./program.ts');
    code = await runProgram(argv, { terminal, env: process.env });
  } catch (error) {
    const { reportFailure } = await import('./failure.ts');
    code = reportFailure(error, terminal, process.env);
  }
  await Promise.all([terminal.out.flush(), terminal.err.flush()]);
  process.exit(code);
}

await main(process.argv.slice(2));
