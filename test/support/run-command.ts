/** What a host program printed. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a host program to its end without a shell; never throws for a non-zero code. */
export async function tryCommand(
  argv: readonly string[],
  options: { cwd?: string } = {},
): Promise<CommandResult> {
  const child = Bun.spawn([...argv], {
    ...options,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

/** Runs a host program and answers its stdout; throws with its stderr when it fails. */
export async function runCommand(argv: readonly string[], options: { cwd?: string } = {}): Promise<string> {
  const { code, stdout, stderr } = await tryCommand(argv, options);
  if (code !== 0) throw new Error(`${argv.join(' ')} failed with ${code}: ${stderr.trim().slice(-2000)}`);
  return stdout;
}
