const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** One argument as a POSIX shell reads it back (XCU 2.2.2, single quotes). */
export function shellQuote(argument: string): string {
  return PLAIN.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}

/** A whole command line: each argument reaches the program as it is. */
export function shellLine(argv: readonly string[]): string {
  return argv.map(shellQuote).join(' ');
}
