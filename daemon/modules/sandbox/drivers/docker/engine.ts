import { existsSync } from 'node:fs';
import { homedir, release } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { AppError, fail } from '../../../../../src/errors/app-error.ts';

/** The client of one engine, and where it listens. */
export interface Engine {
  readonly client: Docker;
  readonly socketPath: string;
}

/** Connects to the engine at a socket, or at the first of the usual ones that exists. */
export function connectEngine(socketPath: string = findSocket()): Engine {
  return { client: new Docker({ socketPath }), socketPath };
}

/** The engine's socket: `DOCKER_HOST` when it names one, else the first of the usual places that is there. */
function findSocket(): string {
  const { DOCKER_HOST: host, XDG_RUNTIME_DIR: runtime } = process.env;
  if (host?.startsWith('unix://')) return host.slice('unix://'.length);
  const usual = [
    '/var/run/docker.sock',
    ...(runtime ? [join(runtime, 'docker.sock')] : []),
    join(homedir(), '.docker/run/docker.sock'),
    join(homedir(), '.colima/default/docker.sock'),
    join(homedir(), '.orbstack/run/docker.sock'),
  ];
  return usual.find((path) => existsSync(path)) ?? '/var/run/docker.sock';
}

interface EngineFault {
  readonly statusCode?: number;
  readonly code?: string;
  readonly message: string;
}

function asFault(error: unknown): EngineFault {
  return error instanceof Error ? (error as Error & EngineFault) : { message: String(error) };
}

/** Whether the engine refused with this HTTP status. */
export function hasStatus(error: unknown, status: number): boolean {
  return asFault(error).statusCode === status;
}

/** The engine's own words, without the client's prefix. */
export function engineMessage(error: unknown): string {
  return asFault(error)
    .message.replace(/^\(HTTP code \d+\) [^-]* - /, '')
    .trim();
}

/** A failed call as an error of ours. `id` names the box that the call was about. */
export function engineError(error: unknown, id: string): AppError {
  if (error instanceof AppError) return error;
  const message = engineMessage(error);
  const { statusCode, code } = asFault(error);
  if (code && ['ENOENT', 'ECONNREFUSED', 'EACCES', 'EPERM', 'FailedToOpenSocket'].includes(code))
    return fail('runtime_missing', { message: `The Docker engine does not answer: ${message}.` });
  if (/no space left on device/i.test(message))
    return fail('disk_full', { message: 'The disk of the Docker engine is full.' });
  if (statusCode === 404 && /no such (container|exec)/i.test(message))
    return fail('not_found', { what: 'box', id });
  if (statusCode === 409 && /is not running|is paused/i.test(message))
    return fail('failed_precondition', { message: `The box ${id} does not run.` });
  return fail('unavailable', { message: `The Docker engine refused: ${message}` });
}

/** Runs calls about one box; what fails comes out as an error of ours. */
export async function withEngine<T>(id: string, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw engineError(error, id);
  }
}

/** Why the engine does not see what is mounted on this host; undefined when it runs here, on the same kernel. */
export async function whyElsewhere({ client }: Engine): Promise<string | undefined> {
  const { KernelVersion: kernel } = (await withEngine('', () => client.info())) as { KernelVersion?: string };
  return kernel === release()
    ? undefined
    : 'The Docker engine does not run on this host but in a virtual machine or elsewhere: it does not see what is mounted here.';
}
