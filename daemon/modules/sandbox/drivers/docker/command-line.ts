import { posix } from 'node:path';
import { invalid } from '../../../../../src/errors/app-error.ts';
import type { ExecSpec, TerminalSize } from '../driver.ts';
import { type BoxRecord, noteName } from './box-folder.ts';
import type { OpenBox } from './boxes.ts';
import { checkId } from './names.ts';
import { EXCHANGE, SCRIPTS } from './scripts.ts';

/** The user of a box and its home. */
const BOX_UID = 1000;
const BOX_HOME = '/home/svc';
const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What the engine is told about a command. */
export interface CommandLine {
  readonly Cmd: string[];
  readonly Env: string[];
  readonly User: string;
  readonly WorkingDir: string;
}

/** How a command is started, besides what it is. */
export interface LaunchMode {
  readonly mark: number;
  /** It gets a terminal of this size. */
  readonly terminal?: TerminalSize;
  /** Its output goes to the log in the exchange folder, and its exit code beside it. */
  readonly detached?: boolean;
}

/** A command as the engine runs it: `launch.sh` and its words. Errors: invalid_argument. */
export function commandLine(box: OpenBox, spec: ExecSpec, mode: LaunchMode): CommandLine {
  checkId('id', spec.id);
  refuseZeros(spec);
  const uid = spec.uid ?? BOX_UID;
  const env = commandEnv(box.record, spec, uid);
  const odd = Object.entries(env).filter(([name]) => !SHELL_NAME.test(name));
  return {
    Cmd: [
      '/bin/sh',
      '-c',
      SCRIPTS.launch,
      'svc',
      ...launchWords(box, spec, mode),
      ...carried(odd),
      ...spec.argv,
    ],
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    User: `${uid}:${spec.gid ?? uid}`,
    WorkingDir: '/',
  };
}

function launchWords({ record }: OpenBox, { id, cwd = '' }: ExecSpec, mode: LaunchMode): string[] {
  const { mark, terminal, detached } = mode;
  const dir = posix.resolve('/', record.workDir, cwd);
  const size = terminal ? `${terminal.rows} ${terminal.cols}` : '';
  const files = detached ? [inBox(id, 'log'), inBox(id, 'exit')] : ['', ''];
  return [String(mark), inBox(id, 'error'), dir, size, ...files];
}

/** Variables whose names a shell does not keep are handed over by `env`. */
function carried(odd: ReadonlyArray<readonly [string, string]>): string[] {
  return odd.length === 0 ? [] : ['env', ...odd.map(([name, value]) => `${name}=${value}`)];
}

/** What a command finds in its environment over that of the image. */
function commandEnv({ image, env }: BoxRecord, spec: ExecSpec, uid: number): Record<string, string> {
  return {
    ...('LANG' in image.env ? {} : { LANG: 'C.UTF-8' }),
    HOME: uid === BOX_UID ? BOX_HOME : uid === 0 ? '/root' : '/',
    ...(uid === BOX_UID ? { USER: 'svc' } : {}),
    ...env,
    ...spec.env,
  };
}

/** A zero byte would end a word early. */
function refuseZeros({ argv, cwd = '', env = {} }: ExecSpec): void {
  const words = [...argv, cwd, ...Object.keys(env), ...Object.values(env)];
  if (words.some((word) => word.includes('\0')))
    throw invalid({
      field: 'argv',
      description: 'a command, its folder and its environment cannot hold a zero byte',
    });
}

function inBox(commandId: string, kind: Parameters<typeof noteName>[1]): string {
  return `${EXCHANGE}/${noteName(commandId, kind)}`;
}
