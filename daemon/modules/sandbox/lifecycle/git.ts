import { fail } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import { MINUTE_MS } from '../../../../src/kit/time.ts';
import type { Execution, Exit, SandboxDriver } from '../drivers/driver.ts';

/** What is cloned into a sandbox when it is made. */
export interface GitSource {
  readonly url: string;
  /** A branch or a tag; the repository's own default when absent. */
  readonly branch?: string;
}

const SCHEMES = ['https:', 'http:', 'ssh:', 'git:', 'file:'];
/** git's short form of an ssh address: user@host:path. */
const SHORT_FORM = /^[\w.-]+@[\w.-]+:[^\s\0-][^\s\0]*$/;
/** git-check-ref-format(1), as far as it matters here: nothing that git would take for an option. */
const BRANCH = /^(?![-/.])(?!.*(?:\.\.|\/\/|@\{|[\s~^:?*[\\\0]))[^\s]{1,255}(?<![/.])$/;
const TIMEOUT_MS = 10 * MINUTE_MS;
const KEPT_BYTES = 8 * 1024;
const NO_SUCH_PROGRAM = 127;

/**
 * Clones into the directory where commands start, or into one of the repository's name when that is not empty,
 * and prints the commit. All of it is done by the box's own git, as its user: a hostile repository has the box.
 */
const SCRIPT = `set -e
command -v git >/dev/null || exit ${NO_SUCH_PROGRAM}
if [ -z "$(ls -A .)" ]; then to=.; else to=$3; fi
if [ -n "$2" ]; then git clone -q --branch "$2" -- "$1" "$to" >&2; else git clone -q -- "$1" "$to" >&2; fi
git -C "$to" rev-parse HEAD`;

/** Why a repository cannot be cloned from there; undefined when it can be tried. */
export function badGitUrl(url: string): string | undefined {
  if (SHORT_FORM.test(url)) return undefined;
  const parsed = URL.parse(url);
  if (!parsed || !SCHEMES.includes(parsed.protocol))
    return 'must be an address that git can clone: https://host/path, or user@host:path';
  if (parsed.password !== '' || (parsed.username !== '' && parsed.protocol.startsWith('http')))
    return 'must not hold a credential; clone with it from inside the sandbox';
  return undefined;
}

/** Whether a text can be the name of a branch or a tag. */
export function isBranch(name: string): boolean {
  return BRANCH.test(name);
}

/** Clones a repository into a running box. Answers the commit. Errors: failed_precondition with git's own words. */
export async function cloneInto(driver: SandboxDriver, id: string, source: GitSource): Promise<string> {
  const name = /([^/:]+?)(?:\.git)?\/*$/.exec(source.url)?.[1] ?? 'repository';
  const execution = await driver.exec(id, {
    id: newId('cmd'),
    argv: ['/bin/sh', '-c', SCRIPT, 'sh', source.url, source.branch ?? '', name],
    env: {
      GIT_TERMINAL_PROMPT: '0',
      GIT_SSH_COMMAND: 'ssh -oBatchMode=yes -oStrictHostKeyChecking=accept-new',
    },
  });
  const { exit, stdout, stderr } = await finish(execution);
  const commit = /^[0-9a-f]{40,64}$/m.exec(stdout)?.[0];
  if (exit.code === 0 && commit) return commit;
  const why =
    exit.code === NO_SUCH_PROGRAM ? 'the image has no git' : stderr.trim() || `git ended with ${exit.code}`;
  throw fail('failed_precondition', { message: `${source.url} could not be cloned: ${why}` });
}

async function finish(execution: Execution): Promise<{ exit: Exit; stdout: string; stderr: string }> {
  const heads = { stdout: '', stderr: '' };
  const timer = setTimeout(() => void execution.kill('SIGKILL').catch(() => {}), TIMEOUT_MS);
  try {
    const decoder = { stdout: new TextDecoder(), stderr: new TextDecoder() };
    for await (const { channel, bytes } of execution.output)
      if (heads[channel].length < KEPT_BYTES)
        heads[channel] += decoder[channel].decode(bytes.slice(0, KEPT_BYTES), { stream: true });
    return { exit: await execution.exited, ...heads };
  } finally {
    clearTimeout(timer);
  }
}
