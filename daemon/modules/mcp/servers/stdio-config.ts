import { invalid } from '../../../../src/errors/app-error.ts';
import { checkEntries } from './checks.ts';
import type { WantedServer } from './config.ts';
import { hide, reveal } from './hidden.ts';

/** A server that is a program in a sandbox. */
export interface Stdio {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Where it starts; the home of the sandbox's user when empty. */
  readonly workingDir: string;
  /** The image of its sandbox; the instance's when empty. */
  readonly image: string;
  /** A sandbox of the tenant that it runs in, in place of one of its own. */
  readonly sandboxId: string;
}

const ENV_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const MOST_ARGS = 256;
const MOST_TEXT = 4_096;
/** Everything that a program is given may be a secret: addresses of databases have passwords in them. */
const every = () => true;

/** Reads a program, over what was there before. Errors: invalid_argument naming the field. */
export function readStdio(sent: NonNullable<WantedServer['stdioConfig']>, earlier?: Stdio): Stdio {
  const env = reveal(sent.env, earlier?.env ?? {}, every, 'stdioConfig.env');
  const stdio: Stdio = {
    command: sent.command ?? earlier?.command ?? '',
    args: sent.args ?? earlier?.args ?? [],
    env: env.values,
    workingDir: sent.workingDir ?? earlier?.workingDir ?? '',
    image: sent.image ?? earlier?.image ?? '',
    sandboxId: sent.sandboxId ?? earlier?.sandboxId ?? '',
  };
  check(stdio);
  if (earlier && env.keepsSecrets && programOf(earlier) !== programOf(stdio))
    throw refuse('command', 'is another program; send the values of env with it');
  return stdio;
}

/** A program as it is shown: its environment as masks. */
export function showStdio({ env, image, sandboxId, args, ...shown }: Stdio) {
  return {
    ...shown,
    args: [...args],
    env: hide(env, every),
    ...(image ? { image } : {}),
    ...(sandboxId ? { sandboxId } : {}),
  };
}

function check({ command, args, env, workingDir, image, sandboxId }: Stdio): void {
  if (command === '') throw refuse('command', 'is required');
  if (args.length > MOST_ARGS) throw refuse('args', `has more than ${MOST_ARGS} entries`);
  for (const [name, text] of Object.entries({ command, workingDir, image, sandboxId }))
    if (text.length > MOST_TEXT || text.includes('\0'))
      throw refuse(name, `must be at most ${MOST_TEXT} characters without NUL`);
  if (args.some((text) => text.length > MOST_TEXT || text.includes('\0')))
    throw refuse('args', `must be at most ${MOST_TEXT} characters each, without NUL`);
  if (workingDir !== '' && !workingDir.startsWith('/'))
    throw refuse('workingDir', 'must be an absolute path');
  if (image !== '' && sandboxId !== '') throw refuse('image', 'is of the sandbox that sandboxId names');
  checkEntries(env, 'stdioConfig.env');
  for (const [name, value] of Object.entries(env))
    if (!ENV_NAME.test(name) || value.includes('\0'))
      throw refuse(`env.${name}`, 'is not a name of a variable, or has NUL in it');
}

function programOf({ command, args, image, sandboxId }: Stdio): string {
  return JSON.stringify([command, args, image, sandboxId]);
}

function refuse(field: string, description: string) {
  return invalid({ field: `stdioConfig.${field}`, description });
}
