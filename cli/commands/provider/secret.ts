import type { Cli } from '../../cli.ts';
import { askSecret, readStdin } from '../../ui/prompt.ts';

/** Reads a key from stdin, or asks for it without showing it: keys in arguments could be seen by every process. */
export async function readKey(cli: Cli, fromStdin: boolean): Promise<string> {
  return (fromStdin ? await readStdin() : await askSecret(cli.terminal, 'API key')).trim();
}

/** Whether a person is there who can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true;
}
