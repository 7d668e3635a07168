import { t } from '../../../../../src/api/schema.ts';
import { invalid } from '../../../../../src/errors/app-error.ts';
import { MINUTE_MS, SECOND_MS } from '../../../../../src/kit/time.ts';
import { badGitUrl, isBranch } from '../../../sandbox/index.ts';
import { declareTool } from '../declare.ts';
import type { Tool } from '../tool.ts';
import { type Plan, recoverCommand, runCommand, type SandboxParts } from './command.ts';
import { pathIn } from './home.ts';
import { LANGUAGES, type Language, scriptOf } from './script.ts';

/** The longest time of a command that names none. */
const DEFAULT_MS = 5 * MINUTE_MS;
/** The most that it may be given, in seconds: as long as a turn. */
const MOST_SECONDS = (30 * MINUTE_MS) / SECOND_MS;

const timeout = t.Optional(
  t.Integer({
    minimum: 1,
    maximum: MOST_SECONDS,
    description: `Killed after this many seconds. Default ${DEFAULT_MS / SECOND_MS}.`,
  }),
);

/** The tools that run something. What they run outlives the daemon. */
export function commandTools(parts: SandboxParts): Tool[] {
  return [shell(parts), execute(parts), gitClone(parts)];
}

function shell(parts: SandboxParts): Tool {
  type Args = { command: string; timeoutSeconds?: number; workDir?: string };
  const planOf =
    ({ command, timeoutSeconds, workDir }: Args): Plan =>
    (place) => ({
      command,
      shown: command,
      cwd: pathIn(place, workDir ?? ''),
      timeoutMs: timeoutSeconds === undefined ? DEFAULT_MS : timeoutSeconds * SECOND_MS,
    });
  return declareTool({
    name: 'sandbox_shell',
    description:
      'Runs a shell command in your sandbox and returns its exit code and output (stdout and stderr together). Each call is a new shell: directories and variables do not carry over, files do. stdin is empty. Start servers with & to leave them running.',
    parameters: t.Object({
      command: t.String({ minLength: 1, description: 'Run by /bin/sh -c.' }),
      timeoutSeconds: timeout,
      workDir: t.Optional(t.String({ description: 'Where it runs; relative to the working directory.' })),
    }),
    run: (args, context) => runCommand(parts, context, planOf(args)),
    recover: (args, context, note) => recoverCommand(parts, context, note, planOf(args)),
  });
}

function execute(parts: SandboxParts): Tool {
  type Args = { code: string; language: Language; timeoutSeconds?: number };
  const planOf =
    ({ code, language, timeoutSeconds }: Args): Plan =>
    async (place, commandId) => {
      const { command, files, made } = await scriptOf(language, code);
      const base = pathIn(place, `.svc-${commandId}`);
      return {
        command,
        shown: code,
        cwd: place.directory,
        env: { SVC_SCRIPT: base },
        timeoutMs: timeoutSeconds === undefined ? DEFAULT_MS : timeoutSeconds * SECOND_MS,
        files: files.map(({ end, text }) => ({ path: `${base}.${end}`, text })),
        made: made.map((end) => `${base}.${end}`),
      };
    };
  return declareTool({
    name: 'sandbox_execute',
    description:
      'Runs code in your sandbox, as a file in the working directory, and returns its exit code and output. Each call is a new process: print what you want to see; variables do not carry over, files do.',
    parameters: t.Object({
      code: t.String({ minLength: 1, maxLength: 1_000_000 }),
      language: t.Unsafe<Language>({ type: 'string', enum: [...LANGUAGES] }),
      timeoutSeconds: timeout,
    }),
    run: (args, context) => runCommand(parts, context, planOf(args)),
    recover: (args, context, note) => recoverCommand(parts, context, note, planOf(args)),
  });
}

/** All of it is done by the sandbox's own git: a hostile repository has the sandbox. The values never are words of the shell. */
const CLONE = `command -v git >/dev/null || { echo 'the sandbox has no git' >&2; exit 127; }
if [ -n "$SVC_BRANCH" ]; then git clone -q --branch "$SVC_BRANCH" -- "$SVC_URL" "$SVC_TO"; else git clone -q -- "$SVC_URL" "$SVC_TO"; fi &&
printf 'cloned into %s at ' "$SVC_TO" && git -C "$SVC_TO" log -1 --format='%H (%s)'`;

function gitClone(parts: SandboxParts): Tool {
  type Args = { url: string; path?: string; branch?: string };
  const planOf =
    ({ url, path, branch }: Args): Plan =>
    (place) => {
      const bad = badGitUrl(url);
      if (bad) throw invalid({ field: 'url', description: bad });
      if (branch && !isBranch(branch))
        throw invalid({ field: 'branch', description: 'is not a name of a branch' });
      const name = /([^/:]+?)(?:\.git)?\/*$/.exec(url)?.[1] ?? 'repository';
      const env = {
        SVC_URL: url,
        SVC_BRANCH: branch ?? '',
        SVC_TO: pathIn(place, path || name),
        GIT_TERMINAL_PROMPT: '0',
        GIT_SSH_COMMAND: 'ssh -oBatchMode=yes -oStrictHostKeyChecking=accept-new',
      };
      return {
        command: CLONE,
        shown: `git clone ${branch ? `--branch ${branch} ` : ''}${url}`,
        cwd: place.directory,
        env,
        timeoutMs: MOST_SECONDS * SECOND_MS,
      };
    };
  return declareTool({
    name: 'sandbox_git_clone',
    description: 'Clones a Git repository into your sandbox and returns the path and the commit.',
    parameters: t.Object({
      url: t.String({
        minLength: 1,
        description: 'https://host/path or user@host:path, without a credential.',
      }),
      path: t.Optional(t.String({ description: 'Where to; the name of the repository by itself.' })),
      branch: t.Optional(t.String({ description: 'A branch or a tag.' })),
    }),
    run: (args, context) => runCommand(parts, context, planOf(args)),
    recover: (args, context, note) => recoverCommand(parts, context, note, planOf(args)),
  });
}
